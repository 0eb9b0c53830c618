package dev.blackbox.proxy;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * Finds the string values of a JSON text that may be cut or broken anywhere, as places in a body.
 * To be fed byte by byte.
 */
final class JsonStrings {

  /**
   * The inside of a string.
   *
   * @param path names of the members that lead there, with the {@code index} of each object that
   *     has one: streamed pieces of one text have the same
   */
  record Text(String path, int start, int end) {}

  private static final String INDEX = "index";

  /** What is deeper has the path of this; source: what the proxy lets through. */
  private static final int DEPTH_MAX = 200;

  private static final class Level {
    final boolean object;
    String name = "";
    String index = "";
    boolean nameNext;

    Level(boolean object) {
      this.object = object;
      this.nameNext = object;
    }
  }

  private record Found(List<Level> levels, List<String> names, int start, int end) {}

  private final byte[] body;
  private final Deque<Level> levels = new ArrayDeque<>();
  private final List<Found> found = new ArrayList<>();
  private int deeper;
  private int stringStart = -1;
  private int last = -1;
  private boolean escape;

  JsonStrings(byte[] body) {
    this.body = body;
  }

  /** The byte of the body at this place comes next. */
  void take(int place) {
    int value = body[place];
    last = place;
    if (stringStart >= 0) {
      inString(value, place);
      return;
    }
    Level level = levels.peekLast();
    switch (value) {
      case '"' -> stringStart = place + 1;
      case '{', '[' -> {
        if (levels.size() < DEPTH_MAX) {
          levels.addLast(new Level(value == '{'));
        } else {
          deeper++;
        }
      }
      case '}', ']' -> {
        if (deeper > 0) {
          deeper--;
        } else {
          levels.pollLast();
        }
      }
      case ',' -> {
        if (level != null) {
          level.nameNext = level.object;
        }
      }
      default -> {
        if (level != null && value >= '0' && value <= '9' && level.name.equals(INDEX)) {
          level.index += (char) value;
        }
      }
    }
  }

  private void inString(int value, int place) {
    if (escape) {
      escape = false;
    } else if (value == '\\') {
      escape = true;
    } else if (value == '"') {
      close(place);
    }
  }

  private void close(int end) {
    Level level = levels.peekLast();
    if (level != null && level.nameNext) {
      level.name = new String(body, stringStart, end - stringStart, StandardCharsets.UTF_8);
      level.nameNext = false;
    } else {
      add(stringStart, end);
    }
    stringStart = -1;
    escape = false;
  }

  private void add(int start, int end) {
    found.add(
        new Found(
            List.copyOf(levels), levels.stream().map(level -> level.name).toList(), start, end));
  }

  /** All of the text so far, which is over. */
  List<Text> end() {
    if (stringStart >= 0 && stringStart <= last) {
      add(stringStart, last + 1);
    }
    List<Text> texts = found.stream().map(JsonStrings::text).toList();
    found.clear();
    levels.clear();
    deeper = 0;
    stringStart = -1;
    last = -1;
    escape = false;
    return texts;
  }

  /** Only now, since the index of an object may come after the text in it. */
  private static Text text(Found it) {
    StringBuilder path = new StringBuilder();
    for (int at = 0; at < it.levels.size(); at++) {
      path.append(it.levels.get(at).index).append('/').append(it.names.get(at));
    }
    return new Text(path.toString(), it.start, it.end);
  }
}
