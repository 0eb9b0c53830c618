package dev.blackbox.app;

import dev.blackbox.config.LogLevel;
import java.io.Console;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;

/** {@code demo}, see {@link Demo}. */
@Command(
    name = "demo",
    description = {
      "Shows a turn that survives kill -9: a scripted engine, a server, a real agent.",
      "Uses opencode if it is on the path, at OPENCODE_BIN or installed; else a shell script."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Commands.Root.class)
final class DemoCommand implements Callable<Integer> {

  @CommandLine.Spec private CommandSpec spec;

  @CommandLine.Option(
      names = "--install",
      description = "Install the pinned opencode through npm if it is not there (350 MB).")
  private boolean install;

  @CommandLine.Option(
      names = "--script",
      description = "Use the shell script, even if opencode is there.")
  private boolean script;

  @CommandLine.Option(
      names = "--keep",
      description = "Keep the directory with state and logs, whose name is printed.")
  private boolean keep;

  @Override
  public Integer call() throws InterruptedException {
    Logging.start(LogLevel.WARNING);
    PrintWriter out = spec.commandLine().getOut();
    out.println("BlackboxServer demo: a turn that survives kill -9");
    Path directory = newDirectory();
    boolean shown = false;
    try {
      Path file = directory.resolve("hello.txt");
      Demo demo = new Demo(directory, file, agent(directory, file, out), out);
      Thread onInterrupt = Thread.ofPlatform().unstarted(demo::close);
      Runtime.getRuntime().addShutdownHook(onInterrupt);
      try (demo) {
        shown = demo.tell(Engines::scripted);
      } finally {
        forget(onInterrupt);
      }
    } finally {
      if (keep || !shown) {
        out.println("Kept: " + directory);
        out.flush();
      } else {
        delete(directory);
      }
    }
    return (shown ? ExitCode.OK : ExitCode.NOT_SHOWN).number();
  }

  private DemoAgent agent(Path directory, Path file, PrintWriter out) throws InterruptedException {
    if (!script) {
      AgentPrograms programs = AgentPrograms.beside(System.getProperty("bbs.launcher"));
      Optional<Path> opencode = programs.opencode();
      if (opencode.isEmpty() && (install || agreed())) {
        opencode = Optional.of(programs.installOpencode());
      }
      if (opencode.isPresent()) {
        return DemoAgent.opencode(opencode.get(), file);
      }
      out.println("opencode was not found, so a small agent of our own takes its place;");
      out.println("bbs demo --install installs opencode " + AgentPrograms.version("opencode"));
    }
    if (AgentPrograms.onPath("curl").isEmpty()) {
      throw new ExitException(
          ExitCode.NOT_SHOWN, "neither opencode nor curl is there; try bbs demo --install.");
    }
    return DemoAgent.shell(directory, file);
  }

  /** Since JDK 25 the console is null again where there is no terminal (JDK-8351435). */
  @SuppressWarnings("SystemConsoleNull")
  private static boolean agreed() {
    @Nullable Console console = System.console();
    if (console == null || !console.isTerminal()) {
      return false;
    }
    String answer =
        console.readLine(
            "opencode is not installed. Install version %s through npm (350 MB)? [y/N] ",
            AgentPrograms.version("opencode"));
    return answer != null && answer.strip().toLowerCase(java.util.Locale.ROOT).startsWith("y");
  }

  static void forget(Thread hook) {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException ending) {
      // The JVM is ending, and the hook runs: it does what we are about to do, and both may.
    }
  }

  private static Path newDirectory() {
    try {
      return Files.createTempDirectory("bbs-demo-").toRealPath();
    } catch (IOException failure) {
      throw new UncheckedIOException("no temporary directory", failure);
    }
  }

  static void delete(Path directory) {
    try {
      Files.walkFileTree(
          directory,
          new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
                throws IOException {
              Files.delete(file);
              return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path visited, @Nullable IOException failure)
                throws IOException {
              if (failure != null) {
                throw failure;
              }
              Files.delete(visited);
              return FileVisitResult.CONTINUE;
            }
          });
    } catch (IOException failure) {
      throw new UncheckedIOException("cannot delete " + directory, failure);
    }
  }
}
