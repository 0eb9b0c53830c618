package dev.blackbox.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.Problem;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RouterAddressTest {

  /**
   * The examples of the reference server, section 8.4, and the API prefix that calls are made
   * under.
   */
  @ParameterizedTest
  @CsvSource({
    "h:1, /v1, http://h:1/v1, /v1, /v1",
    "http://h:1/v2, /v9, http://h:1/v2, /v2, /v2",
    "h:1/, /v1, http://h:1, /, ''",
    "https://h/v1/, /v9, https://h/v1, /v1/, /v1",
    "' http://h:1 ', v3, http://h:1/v3, /v3, /v3",
    "http://h:1, '', http://h:1/v1, /v1, /v1",
    "http://h:1/v1?x=1#y, /v9, http://h:1/v1, /v1, /v1",
    "http://[::1]:8800, /v1, http://[::1]:8800/v1, /v1, /v1"
  })
  void normalisesLikeTheReference(
      String router, String routerApiPath, String baseUrl, String apiPath, String apiPrefix) {
    RouterAddress address = RouterAddress.parse(router, routerApiPath);
    assertThat(address.baseUrl()).isEqualTo(baseUrl);
    assertThat(address.apiPath()).isEqualTo(apiPath);
    assertThat(address.apiPrefix()).isEqualTo(apiPrefix);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "   ", "http://", "ftp://h", "http://a b", "file:///etc/passwd", "http:///v1"})
  void refusesWhatNamesNoEngine(String router) {
    assertThatExceptionOfType(Problem.class)
        .isThrownBy(() -> RouterAddress.parse(router, "/v1"))
        .satisfies(problem -> assertThat(problem.code()).isEqualTo(ErrorCode.REQUEST_ERROR))
        .withMessageContaining("router");
  }
}
