@org.jspecify.annotations.NullMarked
package dev.blackbox.app.soak;
