/** Tests of the process room, with real processes. */
package dev.blackbox.process;
