package dev.blackbox.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.upstream.UpstreamHead;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RetryAfterTest {

  private static final Instant NOW = Instant.parse("1994-11-06T08:49:07.250Z");

  /** Seconds, and the three forms of a date: RFC 9110, section 5.6.7. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        " 30 ",
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "Sun, 6 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994"
      })
  void secondsAndDatesAreUnderstood(String asked) {
    // The engine's clock is the one that counts.
    UpstreamHead head =
        new UpstreamHead(
            503,
            Map.of(
                "retry-after", List.of(asked), "date", List.of("Sun, 06 Nov 1994 08:49:07 GMT")));
    assertThat(RetryAfter.of(head, NOW.plusSeconds(9))).contains(Duration.ofSeconds(30));
  }

  @Test
  void withoutADateOfTheAnswerOurClockCounts() {
    assertThat(asked("Sun, 06 Nov 1994 08:49:37 GMT")).isEqualTo(Duration.ofMillis(29_750));
    assertThat(asked("Sunday, 01-Jan-40 00:00:00 GMT")).isGreaterThan(Duration.ofDays(10_000));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "-1",
        "1.5",
        "soon",
        "1234567890",
        "Sun, 06 Nov 1994 08:49:07 GMT",
        "Mon, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 CET"
      })
  void whatHasPassedOrIsNoTimeAsksForNothing(String asked) {
    UpstreamHead head = new UpstreamHead(503, Map.of("retry-after", List.of(asked)));
    assertThat(RetryAfter.of(head, NOW)).isEmpty();
  }

  private static Duration asked(String text) {
    return RetryAfter.of(new UpstreamHead(503, Map.of("retry-after", List.of(text))), NOW)
        .orElseThrow();
  }
}
