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
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;

/** The bodies of model calls that were kept; may be read while a server writes. */
public final class CapturedCalls {

  private static final Pattern CALL_ID = Pattern.compile("[0-9a-f-]{36}");

  private CapturedCalls() {}

  /**
   * One line of JSON for each call, the oldest first; a file whose beginning cannot be read has a
   * line that says so.
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
        heads.add(file.getFileName() + " is not whole: " + reason(broken));
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
   * @return false if they are not kept
   * @throws IOException if that is no call id, or they are not whole
   */
  public static boolean copy(Path directory, String callId, OutputStream to) throws IOException {
    if (!CALL_ID.matcher(callId).matches()) {
      throw new IOException("\"" + callId + "\" is no call id");
    }
    try (InputStream in = open(directory.resolve(callId + CaptureFiles.SUFFIX))) {
      in.transferTo(to);
      return true;
    } catch (NoSuchFileException missing) {
      return false;
    } catch (IOException broken) {
      throw new IOException(
          "the bodies of call " + callId + " are not whole: " + reason(broken), broken);
    }
  }

  /**
   * What became of the bodies of a call that are not kept: a predicate to "the bodies of this
   * call". Empty if it is not known here: the list has the last ones only.
   */
  public static Optional<String> tale(Path directory, String callId) throws IOException {
    return GoneCalls.tale(directory, callId);
  }

  /**
   * Copies of files.
   *
   * @param bytes of all of them
   */
  public record Copied(int calls, long bytes) {}

  /**
   * Copies all that is kept, while a server may go on: what it deletes meanwhile is left out.
   *
   * @param to made for its owner only, if there is anything to copy
   */
  public static Copied copyAll(Path from, Path to) throws IOException {
    int calls = 0;
    long bytes = 0;
    if (!Files.isDirectory(from)) {
      return new Copied(0, 0);
    }
    List<Path> files = new ArrayList<>(CaptureFiles.named(from, CaptureFiles.SUFFIX));
    for (String list : List.of(GoneCalls.FILE_BEFORE, GoneCalls.FILE, CaptureFiles.DROPPED_FILE)) {
      files.add(from.resolve(list));
    }
    for (Path file : files) {
      CaptureFiles.makeDirectory(to);
      Path copy = to.resolve(file.getFileName());
      try {
        // With its time, which says what is the oldest, and its permissions.
        Files.copy(
            file, copy, StandardCopyOption.COPY_ATTRIBUTES, StandardCopyOption.REPLACE_EXISTING);
      } catch (NoSuchFileException _) {
        // The server has made room meanwhile.
        continue;
      }
      bytes += Files.size(copy);
      calls += file.toString().endsWith(CaptureFiles.SUFFIX) ? 1 : 0;
    }
    return new Copied(calls, bytes);
  }

  private static String reason(IOException broken) {
    String message = broken.getMessage();
    return message == null ? "it ends too early" : message;
  }

  private static InputStream open(Path file) throws IOException {
    return new GZIPInputStream(Files.newInputStream(file));
  }
}
