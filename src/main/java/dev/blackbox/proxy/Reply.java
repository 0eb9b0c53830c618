package dev.blackbox.proxy;

import dev.blackbox.translate.DialectErrors;
import java.util.Map;

/** A whole answer for an agent. */
@SuppressWarnings("ArrayRecordComponent") // handed on at once; never compared
record Reply(int status, Map<String, String> headers, byte[] body) {

  static Reply of(DialectErrors.Answer error) {
    return new Reply(error.status(), error.headers(), error.body());
  }
}
