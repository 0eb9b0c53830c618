package dev.blackbox.translate;

import java.util.UUID;

/** Makes identifiers that no other answer has. */
@FunctionalInterface
public interface IdSource {

  /** A new identifier that begins with {@code prefix}. */
  String next(String prefix);

  /** Random ones. */
  static IdSource random() {
    return prefix -> prefix + UUID.randomUUID().toString().replace("-", "");
  }
}
