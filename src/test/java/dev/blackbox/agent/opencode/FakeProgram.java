package dev.blackbox.agent.opencode;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;

/** Makes {@link FakeOpencode} a program that can be found and started. */
final class FakeProgram {

  static final Map<String, Object> OPTIONS =
      Map.of(
          "provider_id", "engine",
          "provider_name", "Engine",
          "provider_package", "@ai-sdk/openai-compatible",
          "model_id", "m1",
          "model_name", "Model one");

  private FakeProgram() {}

  static Path write(Path directory, String version, String mode) throws IOException {
    return executable(
        directory.resolve("fake-opencode"),
        """
        #!/bin/sh
        if [ "$1" = --version ]; then echo %s; exit 0; fi
        exec '%s/bin/java' -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto -cp '%s' %s %s "$@"
        """
            .formatted(
                version,
                System.getProperty("java.home"),
                System.getProperty("java.class.path"),
                FakeOpencode.class.getName(),
                mode));
  }

  static Path executable(Path file, String script) throws IOException {
    Files.writeString(file, script);
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
  }
}
