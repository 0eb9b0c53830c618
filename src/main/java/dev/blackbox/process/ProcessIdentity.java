package dev.blackbox.process;

/**
 * Names one process for ever: a pid alone is used again by the kernel.
 *
 * @param pid also the number of its process group and session
 * @param startTicks field 22 of {@code /proc/<pid>/stat}: clock ticks since the machine booted
 * @param machineBootId {@code /proc/sys/kernel/random/boot_id}
 */
public record ProcessIdentity(long pid, long startTicks, String machineBootId) {}
