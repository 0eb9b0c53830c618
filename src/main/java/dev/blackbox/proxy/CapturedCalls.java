package dev.blackbox.proxy;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;

/** The bodies of model calls that were kept; may be read while a server writes. */
public final class CapturedCalls {

  private static final Pattern CALL_ID = Pattern.compile("[0-9a-f-]{36}");

  private CapturedCalls() {}

  /**
   * One line of JSON for each call, the oldest first; a file that is not whole has a line that says
   * so.
   */
  public static List<String> heads(Path directory) throws IOException {
    List<String> heads = new ArrayList<>();
    if (!Files.isDirectory(directory)) {
      return heads;
    }
    for (Path file : CaptureFiles.named(directory, CaptureFiles.SUFFIX)) {
      try (BufferedReader in =
          new BufferedReader(new InputStreamReader(open(file), StandardCharsets.UTF_8))) {
        heads.add(String.valueOf(in.readLine()));
      } catch (NoSuchFileException _) {
        // The server has made room meanwhile.
      } catch (IOException broken) {
        heads.add(file.getFileName() + " is not whole: " + broken.getMessage());
      }
    }
    return heads;
  }

  /** How many calls could not be kept, in all boots. */
  public static long dropped(Path directory) throws IOException {
    return CaptureFiles.dropped(directory);
  }

  /**
   * Copies the line of JSON, the request and the answer of a call.
   *
   * @throws IOException if there is none, or it is not whole
   */
  public static void copy(Path directory, String callId, OutputStream to) throws IOException {
    if (!CALL_ID.matcher(callId).matches()) {
      throw new IOException("\"" + callId + "\" is no call id");
    }
    try (InputStream in = open(directory.resolve(callId + CaptureFiles.SUFFIX))) {
      in.transferTo(to);
    } catch (NoSuchFileException missing) {
      throw new IOException("no bodies of call " + callId + " are kept in " + directory, missing);
    }
  }

  private static InputStream open(Path file) throws IOException {
    return new GZIPInputStream(Files.newInputStream(file));
  }
}
