package dev.blackbox.translate;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * What each tool of one request is called in chat completions, and back. A name that chat
 * completions allow stays as it is; another one keeps its first 55 characters, with {@code _} for
 * each that is not allowed, and gets {@code _} and the first 8 hexadecimal digits of the SHA-256 of
 * the whole name. So a tool has the same name in every request of a conversation.
 */
public final class ToolNames {

  /** OpenAI API reference, "function.name". */
  private static final Pattern ALLOWED = Pattern.compile("[A-Za-z0-9_-]{1,64}");

  private static final int KEPT_CHARACTERS = 55;
  private static final int HASH_DIGITS = 8;

  private final Map<String, OriginalTool> byChatName;

  private ToolNames(Map<String, OriginalTool> byChatName) {
    this.byChatName = Map.copyOf(byChatName);
  }

  /** The agent's tool; one that was never declared is a function of that name. */
  public OriginalTool original(String chatName) {
    return Optional.ofNullable(byChatName.get(chatName))
        .orElseGet(() -> OriginalTool.function(chatName));
  }

  /** Those tools whose name had to be changed: the name in chat completions, then the flat one. */
  public Map<String, String> changed() {
    Map<String, String> changed = new LinkedHashMap<>();
    byChatName.forEach(
        (chatName, tool) -> {
          if (!chatName.equals(tool.flatName())) {
            changed.put(chatName, tool.flatName());
          }
        });
    return changed;
  }

  /** Collects the tools of one request. */
  static final class Builder {

    private final Map<String, OriginalTool> byChatName = new LinkedHashMap<>();

    /** The chat name of the tool; the same one for the same tool. */
    String register(OriginalTool tool) {
      String flat = tool.flatName();
      String name = ALLOWED.matcher(flat).matches() ? flat : hashed(flat, flat);
      OriginalTool taken = byChatName.putIfAbsent(name, tool);
      if (taken == null || taken.equals(tool)) {
        return name;
      }
      // Another tool has that name: a namespaced one, say, whose flat name is a plain tool's.
      String distinct = hashed(flat, tool.custom() + "\0" + tool.namespace() + "\0" + tool.name());
      byChatName.put(distinct, tool);
      return distinct;
    }

    /** As {@link #register} for a call of the past, whose kind may not have been said. */
    String registerCall(String name, Optional<String> namespace, boolean custom) {
      return register(new OriginalTool(custom, namespace, name));
    }

    ToolNames build() {
      return new ToolNames(byChatName);
    }
  }

  private static String hashed(String flat, String whole) {
    String cleaned = flat.replaceAll("[^A-Za-z0-9_-]", "_");
    String kept = cleaned.substring(0, Math.min(KEPT_CHARACTERS, cleaned.length()));
    return kept + "_" + sha256(whole).substring(0, HASH_DIGITS);
  }

  static String sha256(String text) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      return HexFormat.of().formatHex(digest.digest(text.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException("every Java platform has SHA-256", impossible);
    }
  }
}
