/** Tests of the settings. */
package dev.blackbox.config;
