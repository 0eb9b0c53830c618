package dev.blackbox.config;

/**
 * What can be set about the control door.
 *
 * @param port 0 lets the system choose one
 * @param bodyBytesMax largest request body; beyond it 413
 * @param concurrentRequestsMax requests at once, waiting ones included; beyond it 503
 */
public record HttpSettings(String host, int port, int bodyBytesMax, int concurrentRequestsMax) {}
