/** Tests of the program: its commands, its launcher, how it ends. */
package dev.blackbox.app;
