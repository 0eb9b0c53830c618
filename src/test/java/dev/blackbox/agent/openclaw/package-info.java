/** Tests of the backends, with real processes. */
package dev.blackbox.agent.openclaw;
