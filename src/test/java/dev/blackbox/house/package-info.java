/** Tests of the house itself: its rooms and its tidiness. */
package dev.blackbox.house;
