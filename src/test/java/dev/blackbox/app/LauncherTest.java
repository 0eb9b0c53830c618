package dev.blackbox.app;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The launcher, run for real, with JDKs that only print how they were called. */
class LauncherTest {

  private static final Path SOURCE = Path.of("src/main/launcher");

  /** What a build leaves in {@code target}; its name has a blank, as directories sometimes do. */
  private Path target;

  @TempDir private Path directory;

  private record Outcome(int exitCode, List<String> output, String errors) {}

  @BeforeEach
  void buildTarget() throws IOException {
    target = Files.createDirectories(directory.resolve("a target"));
    Files.createDirectories(target.resolve("libs"));
    Files.copy(SOURCE.resolve("bbs"), target.resolve("bbs"));
    Files.copy(SOURCE.resolve("bbs.jvm"), target.resolve("bbs.jvm"));
    Files.writeString(target.resolve("blackbox-server.jar"), "a jar");
    Files.writeString(target.resolve("libs/a.jar"), "a library");
    assertThat(target.resolve("bbs").toFile().setExecutable(true)).isTrue();
  }

  @Test
  void theJdkThatIsToldIsUsedAndArgumentsArriveAsTheyAre() throws Exception {
    Path jdk = jdk("told", "25.0.3");

    Outcome outcome = run(Map.of("BBS_JAVA_HOME", jdk.toString()), "serve", "--host=a b", "");

    assertThat(outcome.exitCode).isZero();
    assertThat(outcome.output.getFirst()).isEqualTo("told");
    assertThat(outcome.output)
        .contains("@" + target.resolve("bbs.jvm"), "-Dbbs.launcher=" + target.resolve("bbs"))
        .endsWith(
            "-cp",
            target.resolve("blackbox-server.jar").toString(),
            "dev.blackbox.app.Main",
            "serve",
            "--host=a b",
            "");
  }

  @Test
  void aJdkThatIsToldButTooOldIsRefused() throws Exception {
    Path old = jdk("old", "17.0.15");

    Outcome outcome = run(Map.of("BBS_JAVA_HOME", old.toString()), "serve");

    assertThat(outcome.exitCode).isEqualTo(ExitCode.NO_JDK.number());
    assertThat(outcome.errors)
        .isEqualTo("bbs: BBS_JAVA_HOME is \"" + old + "\", which is no JDK 25 or newer.\n");
  }

  @Test
  void javaHomeIsUsedIfItIsNewEnough() throws Exception {
    Map<String, String> environment = Map.of("JAVA_HOME", jdk("home", "26-ea").toString());

    assertThat(run(environment).output.getFirst()).isEqualTo("home");
  }

  @Test
  void anOldJavaHomeIsPassedOverForJavaOnThePath() throws Exception {
    Path onPath = jdk("path", "25");
    Path bin = Files.createDirectories(directory.resolve("bin"));
    Files.createSymbolicLink(bin.resolve("java"), onPath.resolve("bin/java"));

    Outcome outcome =
        run(
            Map.of(
                "JAVA_HOME",
                jdk("old", "1.8.0_402").toString(),
                "PATH",
                bin + ":" + System.getenv("PATH")));

    assertThat(outcome.output.getFirst()).isEqualTo("path");
  }

  @Test
  void withoutAnyJdkItSaysWhatIsMissingAndWhereItLooked() throws Exception {
    Path launcher = target.resolve("bbs");
    Files.writeString(launcher, Files.readString(launcher).replace("needed=25", "needed=9999"));

    Outcome outcome = run(Map.of());

    assertThat(outcome.exitCode).isEqualTo(ExitCode.NO_JDK.number());
    assertThat(outcome.errors)
        .contains("no JDK 9999 or newer found", "/usr/lib/jvm", "set BBS_JAVA_HOME");
  }

  @Test
  void itWorksThroughALinkFromAnotherDirectory() throws Exception {
    Path link = Files.createSymbolicLink(directory.resolve("link"), Path.of("a target/bbs"));
    Path second = Files.createSymbolicLink(directory.resolve("second"), link);

    Outcome outcome = start(second, Map.of("BBS_JAVA_HOME", jdk("j", "25").toString()));

    assertThat(outcome.output).contains(target.resolve("blackbox-server.jar").toString());
  }

  @Test
  void furtherFlagsAreWords() throws Exception {
    Outcome outcome =
        run(Map.of("BBS_JAVA_HOME", jdk("j", "25").toString(), "BBS_JAVA_OPTS", "-Xmx1g -Dx=y"));

    assertThat(outcome.output)
        .containsSubsequence("@" + target.resolve("bbs.jvm"), "-Xmx1g", "-Dx=y");
  }

  @Test
  void aTrainedCacheIsUsedUntilAJarChanges() throws Exception {
    Map<String, String> environment = Map.of("BBS_JAVA_HOME", jdk("j", "25").toString());
    assertThat(run(environment).output).contains("-XX:AOTMode=off");

    assertThat(train(environment).errors).isEmpty();
    Outcome trained = run(environment);
    Files.writeString(target.resolve("libs/a.jar"), "another library");
    Outcome stale = run(environment);

    assertThat(trained.output).contains("-XX:AOTCache=" + target.resolve("bbs.aot"));
    assertThat(trained.errors).isEmpty();
    assertThat(stale.output).contains("-XX:AOTMode=off");
    assertThat(stale.errors).startsWith("bbs: the start-up cache is of another build or JDK");
  }

  @Test
  void aCacheOfAnotherJdkIsNotUsed() throws Exception {
    train(Map.of("BBS_JAVA_HOME", jdk("one", "25.0.3").toString()));

    Outcome outcome = run(Map.of("BBS_JAVA_HOME", jdk("two", "25.0.4").toString()));

    assertThat(outcome.output).contains("-XX:AOTMode=off");
    assertThat(outcome.errors).contains("of another build or JDK");
  }

  @Test
  void aFailedTrainingIsToldAndDoesNotFailTheBuild() throws Exception {
    Path jdk = jdk("j", "25");
    Files.writeString(jdk.resolve("bin/java"), "#!/bin/sh\nexit 7\n");

    Outcome outcome = train(Map.of("BBS_JAVA_HOME", jdk.toString()));

    assertThat(outcome.exitCode).isZero();
    assertThat(outcome.errors).startsWith("bbs: WARNING: no start-up cache could be made");
  }

  @Test
  void anUnbuiltProgramIsNamed() throws Exception {
    Files.delete(target.resolve("blackbox-server.jar"));

    Outcome outcome = run(Map.of());

    assertThat(outcome.exitCode).isEqualTo(ExitCode.NO_JDK.number());
    assertThat(outcome.errors).contains("blackbox-server.jar is missing", "mvn");
  }

  /** A JDK of this version whose {@code java} prints its name and arguments, and makes caches. */
  private Path jdk(String name, String version) throws IOException {
    Path jdk = Files.createDirectories(directory.resolve("jdks").resolve(name));
    Files.createDirectories(jdk.resolve("bin"));
    Files.writeString(
        jdk.resolve("release"), "IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"" + version + "\"\n");
    Path java = jdk.resolve("bin/java");
    Files.writeString(
        java,
        """
        #!/bin/sh
        echo %s
        for word in "$@"; do
          echo "$word"
          case $word in -XX:AOTCacheOutput=*) echo cache >"${word#*=}" ;; esac
        done
        """
            .formatted(name));
    assertThat(java.toFile().setExecutable(true)).isTrue();
    return jdk;
  }

  private Outcome train(Map<String, String> environment) throws Exception {
    Map<String, String> training = new java.util.HashMap<>(environment);
    training.put("BBS_AOT", "train");
    return run(training);
  }

  private Outcome run(Map<String, String> environment, String... arguments) throws Exception {
    return start(target.resolve("bbs"), environment, arguments);
  }

  private Outcome start(Path launcher, Map<String, String> environment, String... arguments)
      throws Exception {
    List<String> words = new ArrayList<>(List.of(launcher.toString()));
    words.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(words).directory(Path.of("/").toFile());
    builder.environment().keySet().removeIf(name -> name.startsWith("BBS_"));
    builder.environment().remove("JAVA_HOME");
    builder.environment().putAll(environment);
    Path errors = Files.createTempFile(directory, "errors", "");
    Process process = builder.redirectError(errors.toFile()).start();
    List<String> output =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
            .lines()
            .toList();
    assertThat(process.waitFor(60, SECONDS)).isTrue();
    return new Outcome(process.exitValue(), output, Files.readString(errors));
  }
}
