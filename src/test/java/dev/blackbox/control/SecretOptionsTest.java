package dev.blackbox.control;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.wire.Json;
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
}
