package dev.blackbox.control;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.kernel.Secret;
import dev.blackbox.wire.Json;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class SecretOptionsTest {

  @Test
  void hidesSecretsAtEveryDepthAndKeepsCounts() {
    String shown =
        Json.write(
            SecretOptions.hide(
                Json.object(
                    """
                    {"api_key":"k-1","gateway":{"auth_token":"t-1","port":1},"list":[{"password":"p-1"}],
                     "max_tokens":5,"reserve_tokens":"12","token_names":["a-1"],"empty_token":"","model_id":"m"}\
                    """)));
    assertThat(shown)
        .doesNotContain("k-1", "t-1", "p-1", "a-1")
        .isEqualTo(
            "{\"api_key\":\"***\",\"gateway\":{\"auth_token\":\"***\",\"port\":1},\"list\":[{\"password\":\"***\"}],"
                + "\"max_tokens\":5,\"reserve_tokens\":\"12\",\"token_names\":[\"***\"],\"empty_token\":\"\",\"model_id\":\"m\"}");
  }

  @Test
  void knowsTheValuesOfSecretsAtEveryDepthAndInAnEnvironment() {
    assertThat(
            SecretOptions.secrets(
                Json.object(
                    """
                    {"api_key":"k-1","gateway":{"auth_token":"t-1","port":1},"list":[{"password":"p-1"}],
                     "max_tokens":5,"reserve_tokens":"12","tokens":["a-1","a-2"],"model_id":"m"}\
                    """)))
        .extracting(Secret::reveal)
        .containsExactly("k-1", "t-1", "p-1", "a-1", "a-2");
    assertThat(
            SecretOptions.secrets(
                new TreeMap<>(
                    Map.of(
                        "AWS_SECRET_ACCESS_KEY", "s-1",
                        "BBS_API_TOKEN", "s-2",
                        "BBS_API_TOKEN_FILE", "/run/token",
                        "DEPLOY_PRIVATE_KEY", "s-3",
                        "HOME", "/root",
                        "PGPASSWD", "s-4"))))
        .extracting(Secret::reveal)
        .containsExactly("s-1", "s-2", "s-3", "s-4");
  }
}
