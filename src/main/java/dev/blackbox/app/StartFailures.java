package dev.blackbox.app;

import dev.blackbox.ledger.LedgerRefusedException;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Turns the reasons why a server cannot start into exit codes with one line each. */
final class StartFailures {

  private StartFailures() {}

  static ExitException of(LedgerRefusedException refused) {
    ExitCode code =
        switch (refused.reason()) {
          case LOCKED -> ExitCode.STATE_LOCKED;
          case NOT_WRITABLE -> ExitCode.NOT_WRITABLE;
          case NEWER_VERSION -> ExitCode.LEDGER_NEWER;
          case DAMAGED -> ExitCode.LEDGER_DAMAGED;
        };
    String reason = refused.getMessage();
    return new ExitException(code, reason == null ? "the ledger will not open" : reason, refused);
  }

  /**
   * Checks that the server will be able to listen, before anything is opened: a server that finds
   * that out last would have recorded a boot and started an agent for nothing.
   */
  static void checkAddress(String host, int port) {
    InetAddress address;
    try {
      address = InetAddress.getByName(host);
    } catch (UnknownHostException unknown) {
      throw new ExitException(
          ExitCode.USAGE, "BBS_HOST is \"" + host + "\", which no name server knows.", unknown);
    }
    try (ServerSocket probe = new ServerSocket()) {
      probe.setReuseAddress(
          true); // as the real listener does: leftovers of old connections are fine
      probe.bind(new InetSocketAddress(address, port));
    } catch (BindException taken) {
      throw cannotListen(host, port, taken);
    } catch (IOException unusable) {
      throw new ExitException(
          ExitCode.USAGE, "cannot listen on " + host + ":" + port + ": " + unusable, unusable);
    }
  }

  /**
   * Why a listener could not start; the failure itself if the reason is not the address.
   *
   * @param failure as the HTTP library threw it
   */
  static RuntimeException listening(String host, int port, RuntimeException failure) {
    Throwable cause = failure;
    while (cause != null) {
      if (cause instanceof BindException taken) {
        return cannotListen(host, port, taken);
      }
      cause = cause.getCause();
    }
    return failure;
  }

  private static ExitException cannotListen(String host, int port, BindException failure) {
    String text = String.valueOf(failure.getMessage());
    if (text.contains("in use")) {
      return new ExitException(
          ExitCode.PORT_TAKEN,
          "port " + port + " on " + host + " is taken by another program; set --port.",
          failure);
    }
    return new ExitException(
        ExitCode.USAGE,
        "cannot listen on " + host + ":" + port + ": " + text + "; set --host and --port.",
        failure);
  }

  /** Makes a directory, and checks that files can be made in it. */
  static void checkWritable(Path directory, String setting) {
    try {
      Files.createDirectories(directory);
      Files.delete(Files.createTempFile(directory, ".bbs-", ".probe"));
    } catch (IOException unwritable) {
      throw new ExitException(
          ExitCode.NOT_WRITABLE,
          setting + " " + directory + " cannot be written: " + reason(unwritable) + ".",
          unwritable);
    }
  }

  private static String reason(IOException failure) {
    return failure.getClass().getSimpleName().replace("Exception", "")
        + ": "
        + failure.getMessage();
  }
}
