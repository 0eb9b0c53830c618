package dev.blackbox.upstream;

import dev.blackbox.kernel.Resource;
import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.util.Optional;

/**
 * One call to an engine. One thread waits for the head and reads the body; any thread may close the
 * call at any time, which ends the other's waiting within milliseconds and drops the connection
 * unless the answer had been read to its end.
 */
public interface UpstreamCall extends Resource {

  /**
   * Waits for the head of the answer.
   *
   * @throws UpstreamException if none came, in time
   */
  UpstreamHead head() throws UpstreamException;

  /**
   * Reads what is there of the body, at least one byte; waits for it if need be.
   *
   * @return the number of bytes, or -1 at the end of a whole body
   * @throws UpstreamException if the body breaks off or stalls
   */
  int read(byte[] into) throws UpstreamException;

  /**
   * Waits for the head for this long at most.
   *
   * @return empty if it may still come
   * @throws UpstreamException as {@link #head()}
   */
  Optional<UpstreamHead> head(Duration patience) throws UpstreamException;

  /**
   * As {@link #read(byte[])}, but comes back after {@code patience}; limits go on meanwhile.
   *
   * @return 0 if nothing came so far
   * @throws UpstreamException as {@link #read(byte[])}
   */
  int read(byte[] into, Duration patience) throws UpstreamException;

  /** Another limit for waiting for the next bytes, from the next read on. */
  void idleTimeout(Duration timeout);

  /** Reads the rest of the body, if it is at most this long. */
  default byte[] readAll(long bytesMax) throws UpstreamException {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    byte[] buffer = new byte[16 << 10];
    int length = read(buffer);
    while (length >= 0) {
      if (body.size() + (long) length > bytesMax) {
        throw new UpstreamException(
            UpstreamException.Kind.TOO_LARGE,
            "the engine's answer is longer than " + bytesMax + " bytes",
            null);
      }
      body.write(buffer, 0, length);
      length = read(buffer);
    }
    return body.toByteArray();
  }
}
