package dev.blackbox.proxy;

import dev.blackbox.upstream.UpstreamHead;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.temporal.ChronoField;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * How long an engine asks to be left alone, in the header {@code Retry-After}: a number of seconds,
 * or a date. Source: RFC 9110, sections 10.2.3 and 5.6.7.
 */
final class RetryAfter {

  private static final Pattern SECONDS = Pattern.compile("\\d{1,9}");

  /** Two digits of a year mean one that is at most so far ahead. */
  private static final int CENTURY_AHEAD_YEARS = 50;

  private RetryAfter() {}

  /**
   * The time from now on; empty if none was asked for, or a date that has passed or is no date.
   *
   * @param now by our clock, which counts if the answer does not say when it was made
   */
  static Optional<Duration> of(UpstreamHead head, Instant now) {
    Optional<String> asked = head.header("retry-after").map(String::strip);
    if (asked.filter(text -> SECONDS.matcher(text).matches()).isPresent()) {
      return asked.map(seconds -> Duration.ofSeconds(Long.parseLong(seconds)));
    }
    // By the engine's own clock: the two need not agree.
    Instant answered = head.header("date").flatMap(text -> date(text, now)).orElse(now);
    return asked
        .flatMap(text -> date(text, now))
        .map(until -> Duration.between(answered, until))
        .filter(Duration::isPositive);
  }

  private static Optional<Instant> date(String text, Instant now) {
    for (DateTimeFormatter form : forms(now)) {
      try {
        LocalDateTime date = LocalDateTime.parse(text.strip(), form);
        return Optional.of(date.toInstant(ZoneOffset.UTC));
      } catch (DateTimeException _) {
        // Perhaps one of the other forms.
      }
    }
    return Optional.empty();
  }

  /**
   * The form of today, and the two that a recipient must still take. Some servers leave out the
   * zero before the first nine days of a month, as Helidon 4.5.0 does.
   */
  private static List<DateTimeFormatter> forms(Instant now) {
    int firstYear = now.atZone(ZoneOffset.UTC).getYear() + CENTURY_AHEAD_YEARS - 99;
    return List.of(
        DateTimeFormatter.ofPattern("EEE, d MMM uuuu HH:mm:ss 'GMT'", Locale.US),
        new DateTimeFormatterBuilder()
            .appendPattern("EEEE, dd-MMM-")
            .appendValueReduced(ChronoField.YEAR, 2, 2, LocalDate.of(firstYear, 1, 1))
            .appendPattern(" HH:mm:ss 'GMT'")
            .toFormatter(Locale.US),
        DateTimeFormatter.ofPattern("EEE MMM ppd HH:mm:ss uuuu", Locale.US));
  }
}
