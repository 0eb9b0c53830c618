package dev.blackbox.process;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.process.ManagedProcess.Captured;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CaptureTest {

  @Test
  void whatFitsIsKeptWhole() {
    assertThat(captured(10, "0123456789")).isEqualTo(new Captured("0123456789", 0));
  }

  @Test
  void theMiddleIsLeftOut() {
    assertThat(captured(10, "0123456789ABCDEF"))
        .isEqualTo(new Captured("01234\n[… 6 bytes left out …]\nBCDEF", 6));
  }

  @ParameterizedTest
  @ValueSource(ints = {20, 21, 22, 23, 24, 25, 26, 27})
  void charactersAreNotCutInTwo(int bytesMax) {
    String text = "aé€😀".repeat(40);

    Captured captured = captured(bytesMax, text);

    assertThat(captured.text()).doesNotContain("\uFFFD");
    String[] parts = captured.text().split("\n.*\n");
    assertThat(text).startsWith(parts[0]).endsWith(parts[1]);
    int kept =
        parts[0].getBytes(StandardCharsets.UTF_8).length
            + parts[1].getBytes(StandardCharsets.UTF_8).length;
    assertThat(captured.droppedBytes() + kept)
        .isEqualTo(text.getBytes(StandardCharsets.UTF_8).length);
  }

  @Test
  void aCharacterOverTheMiddleOfAWholeCaptureStaysWhole() {
    assertThat(captured(6, "ab€c")).isEqualTo(new Captured("ab€c", 0));
  }

  @RepeatedTest(20)
  void anyPiecesGiveTheSame() {
    long seed = new Random(0).nextLong() ^ System.nanoTime();
    Random random = new Random(seed);
    byte[] all = new byte[random.nextInt(5_000)];
    for (int i = 0; i < all.length; i++) {
      all[i] = (byte) ('a' + random.nextInt(26));
    }
    int bytesMax = 2 + random.nextInt(3_000);
    Capture capture = new Capture(bytesMax);
    int at = 0;
    while (at < all.length) {
      int count = Math.min(all.length - at, 1 + random.nextInt(700));
      capture.add(Arrays.copyOfRange(all, at, at + count), count);
      at += count;
    }

    Captured whole = captured(bytesMax, new String(all, StandardCharsets.UTF_8));
    assertThat(capture.snapshot()).as("seed %d", seed).isEqualTo(whole);
    assertThat(whole.droppedBytes()).isEqualTo(Math.max(0, all.length - bytesMax));
  }

  private static Captured captured(int bytesMax, String text) {
    Capture capture = new Capture(bytesMax);
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    capture.add(bytes, bytes.length);
    return capture.snapshot();
  }
}
