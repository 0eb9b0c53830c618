package dev.blackbox.app;

import dev.blackbox.wire.Json;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * An agent of the demo, and what the engine has to say so that it does its task.
 *
 * @param description for the reader
 * @param type its {@code blackbox_type}
 * @param options its {@code backend_options}
 * @param script for the engine, see docs/engine.md
 * @param serverOptions what the server needs to know
 * @param environment what the server needs in its environment
 */
record DemoAgent(
    String description,
    String type,
    Map<String, Object> options,
    String script,
    List<String> serverOptions,
    Map<String, String> environment) {

  static final String FILE_CONTENT = "Written by an agent, through a server that was killed.";
  static final String ANSWER = "Done: the file is written.";

  private static final String SCRIPT_RESOURCE = "/demo/agent.sh";

  /**
   * opencode.
   *
   * @param file that it is to write; absolute
   */
  static DemoAgent opencode(Path program, Path file) {
    return new DemoAgent(
        "opencode, " + program,
        "opencode",
        Map.of(
            "provider_id", "demo",
            "provider_name", "Scripted engine",
            "provider_package", "@ai-sdk/openai-compatible",
            "model_id", "demo-1",
            "model_name", "Demo One",
            "model_limit", Map.of("context", 128_000, "output", 8_192)),
        script(List.of(writing(file), ANSWER)),
        List.of(),
        Map.of("OPENCODE_BIN", program.toString()));
  }

  private static String script(List<Object> steps) {
    return Json.write(Map.of("otherwise", steps));
  }

  /** A step in which the model calls opencode's tool for writing files. */
  private static Map<String, Object> writing(Path file) {
    return Map.of(
        "tool_calls",
        List.of(
            Map.of(
                "name",
                "write",
                "arguments",
                Map.of("filePath", file.toString(), "content", FILE_CONTENT + "\n"))));
  }

  /**
   * A shell script that asks the model once, with curl, and writes the file itself.
   *
   * @param directory where the script is put
   * @param file that it is to write; absolute
   */
  static DemoAgent shell(Path directory, Path file) {
    Path program = directory.resolve("agent.sh");
    try (InputStream bytes = DemoAgent.class.getResourceAsStream(SCRIPT_RESOURCE)) {
      if (bytes == null) {
        throw new IllegalStateException(SCRIPT_RESOURCE + " is missing from the program");
      }
      String text = new String(bytes.readAllBytes(), StandardCharsets.UTF_8);
      Files.writeString(
          program, text.replace("@FILE@", file.toString()).replace("@CONTENT@", FILE_CONTENT));
    } catch (IOException failure) {
      throw new UncheckedIOException("cannot write " + program, failure);
    }
    if (!program.toFile().setExecutable(true)) {
      throw new UncheckedIOException(new IOException("cannot make executable: " + program));
    }
    return new DemoAgent(
        "a shell script that asks the model with curl, " + program,
        "script",
        Map.of(),
        script(List.of(ANSWER)),
        List.of("--script-agent=" + program),
        Map.of());
  }
}
