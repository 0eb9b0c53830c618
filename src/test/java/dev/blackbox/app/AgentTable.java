package dev.blackbox.app;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

/** What each real agent did in each row of the matrix, as a Markdown table. */
final class AgentTable {

  /** Longest text in a cell, in characters. */
  private static final int CELL_CHARACTERS_MAX = 400;

  private final Map<AgentProgram, String> versions = new EnumMap<>(AgentProgram.class);
  private final Map<String, Map<AgentProgram, String>> rows = new LinkedHashMap<>();

  void version(AgentProgram agent, String version) {
    versions.put(agent, version);
  }

  void tell(String row, AgentProgram agent, String text) {
    String flat = text.replaceAll("\\s+", " ").replace("|", "\\|").strip();
    rows.computeIfAbsent(row, _ -> new EnumMap<>(AgentProgram.class))
        .put(
            agent,
            flat.length() > CELL_CHARACTERS_MAX
                ? flat.substring(0, CELL_CHARACTERS_MAX) + " …"
                : flat);
  }

  String markdown() {
    StringBuilder text = new StringBuilder("| |");
    versions.forEach((agent, version) -> text.append(" ").append(heading(agent, version)));
    text.append("\n|---|").append("---|".repeat(versions.size())).append('\n');
    rows.forEach(
        (row, cells) ->
            text.append("| ")
                .append(row)
                .append(" | ")
                .append(
                    versions.keySet().stream()
                        .map(agent -> cells.getOrDefault(agent, "not run"))
                        .collect(Collectors.joining(" | ")))
                .append(" |\n"));
    return text.toString();
  }

  private static String heading(AgentProgram agent, String version) {
    return "`" + agent.type() + "`: " + version + " |";
  }

  void write(Path file) throws IOException {
    Files.createDirectories(file.toAbsolutePath().getParent());
    Files.writeString(file, markdown());
  }
}
