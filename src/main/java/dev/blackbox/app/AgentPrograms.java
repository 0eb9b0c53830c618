package dev.blackbox.app;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Finds the agent programs that this server is tested with, and installs them when told to. */
final class AgentPrograms {

  private static final String RESOURCE = "/config/agents.properties";
  private static final int INSTALL_LIMIT_MINUTES = 15;

  private final Path directory;

  /**
   * @param directory where programs are installed; {@code target/agents}
   */
  AgentPrograms(Path directory) {
    this.directory = directory;
  }

  /** Beside the launcher if there is one, else under the working directory. */
  static AgentPrograms beside(@Nullable String launcher) {
    Path target =
        launcher == null
            ? Path.of("target").toAbsolutePath()
            : Path.of(launcher).toAbsolutePath().resolveSibling("");
    return new AgentPrograms(target.resolve("agents"));
  }

  /** The pinned version of an agent. */
  static String version(String agent) {
    Properties file = new Properties();
    try (InputStream bytes = AgentPrograms.class.getResourceAsStream(RESOURCE)) {
      if (bytes == null) {
        throw new IllegalStateException(RESOURCE + " is missing from the program");
      }
      file.load(bytes);
    } catch (IOException unreadable) {
      throw new UncheckedIOException(RESOURCE + " cannot be read", unreadable);
    }
    @Nullable String version = file.getProperty(agent);
    if (version == null) {
      throw new IllegalStateException(RESOURCE + " has no " + agent);
    }
    return version;
  }

  /** opencode: as OPENCODE_BIN says, on the path, or installed by us. */
  Optional<Path> opencode() {
    @Nullable String told = System.getenv("OPENCODE_BIN");
    if (told != null && !told.isBlank()) {
      return Optional.of(Path.of(told)).filter(Files::isExecutable);
    }
    return onPath("opencode").or(() -> Optional.of(installed()).filter(Files::isExecutable));
  }

  private Path installed() {
    // The package's own script needs a post-install step; the program itself lies in this one.
    return directory.resolve("node_modules/opencode-linux-x64/bin/opencode");
  }

  /** What {@link #installOpencode} runs. */
  List<String> opencodeInstallation() {
    return List.of(
        "npm",
        "install",
        "--prefix",
        directory.toString(),
        "--no-audit",
        "--no-fund",
        "--ignore-scripts",
        "opencode-ai@" + version("opencode"));
  }

  /** Installs the pinned opencode through npm, which takes minutes and 350 MB. */
  Path installOpencode() throws InterruptedException {
    if (onPath("npm").isEmpty()) {
      throw new ExitException(
          ExitCode.USAGE, "npm is not on the path; it is needed to install opencode.");
    }
    try {
      Files.createDirectories(directory);
      Process npm =
          new ProcessBuilder(opencodeInstallation())
              .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
              .redirectOutput(ProcessBuilder.Redirect.INHERIT)
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
      if (!npm.waitFor(INSTALL_LIMIT_MINUTES, TimeUnit.MINUTES)) {
        npm.destroyForcibly();
      }
      if (npm.waitFor() != 0 || !Files.isExecutable(installed())) {
        throw new ExitException(
            ExitCode.NOT_SHOWN,
            "npm could not install opencode; " + String.join(" ", opencodeInstallation()));
      }
      return installed();
    } catch (IOException failure) {
      throw new UncheckedIOException("cannot run npm", failure);
    }
  }

  /** A program on the path. */
  static Optional<Path> onPath(String program) {
    for (String place : String.valueOf(System.getenv("PATH")).split(File.pathSeparator)) {
      Path candidate = Path.of(place.isEmpty() ? "." : place, program);
      if (Files.isRegularFile(candidate) && Files.isExecutable(candidate)) {
        return Optional.of(candidate.toAbsolutePath());
      }
    }
    return Optional.empty();
  }
}
