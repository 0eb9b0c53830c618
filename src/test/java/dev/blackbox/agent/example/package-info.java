/** The example of docs/adding-a-backend.md, which shows its source. */
package dev.blackbox.agent.example;
