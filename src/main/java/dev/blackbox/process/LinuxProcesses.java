package dev.blackbox.process;

import dev.blackbox.process.ProcessSpec.Output;
import java.io.File;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * Starts each process through {@code setsid}, so that its pid is also the number of its session and
 * of its group. The two marker variables find what leaves both.
 */
final class LinuxProcesses implements Processes {

  private static final Logger LOG = System.getLogger(LinuxProcesses.class.getName());

  private static final List<Path> SETSID =
      List.of(Path.of("/usr/bin/setsid"), Path.of("/bin/setsid"));

  private static final File NULL = new File("/dev/null");

  private final String marker;
  private final ProcessLog log;

  LinuxProcesses(String marker, ProcessLog log) {
    if (marker.isEmpty() || marker.indexOf('\0') >= 0) {
      throw new IllegalArgumentException("the marker must not be empty and must hold no NUL");
    }
    this.marker = marker;
    this.log = log;
  }

  @Override
  public ManagedProcess start(ProcessSpec spec) throws IOException {
    Path program = program(spec);
    if (!Files.isDirectory(spec.directory())) {
      throw new IOException(
          program + " cannot be started: its directory " + spec.directory() + " does not exist");
    }
    String id = UUID.randomUUID().toString();
    LinuxProcess process = spawn(spec, program, id);
    boolean recorded = false;
    try {
      log.started(spec.kind(), process.identity());
      recorded = true;
    } finally {
      if (!recorded && !process.end(Duration.ZERO)) {
        LOG.log(Level.WARNING, "unrecorded process {0} could not be ended", process.identity());
      }
    }
    process.watch(log);
    return process;
  }

  private LinuxProcess spawn(ProcessSpec spec, Path program, String id) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(setsid());
    command.add(program.toString());
    command.addAll(spec.command().subList(1, spec.command().size()));
    ProcessBuilder builder = new ProcessBuilder(command).directory(spec.directory().toFile());
    Map<String, String> environment = builder.environment();
    environment.clear();
    environment.putAll(spec.environment());
    environment.put(MARKER_VARIABLE, marker);
    environment.put(ID_VARIABLE, id);
    builder.redirectInput(spec.input().map(Path::toFile).orElse(NULL));
    Optional<Capture> stdout = capture(spec.stdout());
    Optional<Capture> stderr = capture(spec.stderr());
    Optional<Drain> drain =
        stdout.isPresent() || stderr.isPresent()
            ? Optional.of(new Drain(spec.kind()))
            : Optional.empty();
    ProcFs.Moment before = ProcFs.Moment.now();
    Process started;
    try {
      builder.redirectOutput(redirect(spec.stdout(), stdout, drain));
      builder.redirectError(redirect(spec.stderr(), stderr, drain));
      started = builder.start();
    } catch (IOException | RuntimeException failed) {
      drain.ifPresent(Drain::abandon);
      throw new IOException(program + " cannot be started: " + failed.getMessage(), failed);
    }
    OrphanCollector.leaveToTheJdk(started);
    drain.ifPresent(Drain::start);
    return new LinuxProcess(started, id, before, stdout, stderr, drain);
  }

  private static Optional<Capture> capture(Output output) {
    return switch (output) {
      case Output.File _ -> Optional.empty();
      case Output.Captured captured -> Optional.of(new Capture(captured.bytesMax()));
    };
  }

  private static ProcessBuilder.Redirect redirect(
      Output output, Optional<Capture> capture, Optional<Drain> drain) throws IOException {
    return switch (output) {
      case Output.File file -> {
        createPrivate(file.path());
        yield ProcessBuilder.Redirect.appendTo(file.path().toFile());
      }
      case Output.Captured _ ->
          ProcessBuilder.Redirect.to(drain.orElseThrow().add(capture.orElseThrow()));
    };
  }

  /** What agents print may be anything, so only our user may read it. */
  private static void createPrivate(Path file) throws IOException {
    try {
      Files.createFile(
          file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    } catch (FileAlreadyExistsException fromBefore) {
      // appended to
    }
  }

  /**
   * Finds the program as execvp(3) would with the child's PATH, so that a missing one is told as
   * such, and not by an exit code of setsid.
   */
  private static Path program(ProcessSpec spec) throws IOException {
    if (spec.command().isEmpty() || spec.command().getFirst().isEmpty()) {
      throw new IOException("no program was given to start");
    }
    String name = spec.command().getFirst();
    List<Path> candidates = new ArrayList<>();
    if (name.contains("/")) {
      candidates.add(spec.directory().resolve(name));
    } else {
      for (String entry : spec.environment().getOrDefault("PATH", "").split(":")) {
        if (!entry.isEmpty()) {
          candidates.add(Path.of(entry, name));
        }
      }
    }
    for (Path candidate : candidates) {
      if (Files.isRegularFile(candidate) && Files.isExecutable(candidate)) {
        return candidate.toAbsolutePath();
      }
    }
    throw new IOException(
        name.contains("/")
            ? name + " cannot be started: it is not an executable file"
            : name + " cannot be started: it is not on the PATH of its environment");
  }

  private static String setsid() throws IOException {
    for (Path candidate : SETSID) {
      if (Files.isExecutable(candidate)) {
        return candidate.toString();
      }
    }
    throw new IOException("setsid was not found in /usr/bin or /bin; it is part of util-linux");
  }
}
