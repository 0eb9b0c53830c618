package dev.blackbox.translate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.blackbox.wire.Json;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ModelListsTest {

  @Test
  void entriesWithoutAnIdAreLeftOutAndIdsWithSlashesAreFound() throws Exception {
    List<Map<String, Object>> models =
        ModelLists.read(utf8("{\"data\":[{\"id\":\"a/b\",\"root\":1},{\"object\":\"model\"},7]}"));
    assertThat(models).containsExactly(Map.of("id", "a/b", "root", 1));
    assertThat(ModelLists.find(models, "a/b")).isPresent();
    assertThat(ModelLists.find(models, "b")).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"1700000000,2023-11-14T22:13:20Z", "-1,1970-01-01T00:00:00Z"})
  void aReleaseDateIsToldWhereItIsKnown(long created, String told) {
    assertThat(ModelLists.anthropicModel(Map.of("id", "m", "created", created)))
        .containsEntry("created_at", told);
    assertThat(ModelLists.anthropicModel(Map.of("id", "m", "created", Long.MAX_VALUE)))
        .containsEntry("created_at", "1970-01-01T00:00:00Z");
  }

  @Test
  void anEmptyListHasNoFirstModel() {
    assertThat(Json.write(ModelLists.anthropicPage(List.of())))
        .isEqualTo("{\"data\":[],\"has_more\":false,\"first_id\":null,\"last_id\":null}");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "<html>", "[]", "{\"data\":{}}"})
  void whatIsNoListIsRefused(String body) {
    assertThatThrownBy(() -> ModelLists.read(utf8(body))).isInstanceOf(BrokenAnswerException.class);
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
