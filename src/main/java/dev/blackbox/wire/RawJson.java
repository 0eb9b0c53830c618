package dev.blackbox.wire;

import com.fasterxml.jackson.annotation.JsonRawValue;
import com.fasterxml.jackson.annotation.JsonValue;

/** Text that is JSON already and goes out exactly as it is, for example a stored answer. */
public record RawJson(@JsonRawValue @JsonValue String text) {}
