package dev.blackbox.translate;

import dev.blackbox.wire.Json;
import dev.blackbox.wire.MalformedJsonException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * An engine's list of models, {@code {"object": "list", "data": [{"id", "object", "created", …}]}},
 * and what of it agents are told. Shapes: OpenAI and Anthropic API references, "Models".
 */
public final class ModelLists {

  private ModelLists() {}

  /**
   * The models of an engine's list, as the engine describes them; entries without an id are left
   * out.
   *
   * @throws BrokenAnswerException if it is no such list
   */
  public static List<Map<String, @Nullable Object>> read(byte[] body) throws BrokenAnswerException {
    if (!(tree(body) instanceof Map<?, ?> list) || !(list.get("data") instanceof List<?> entries)) {
      throw new BrokenAnswerException("no list of models");
    }
    List<Map<String, @Nullable Object>> models = new ArrayList<>();
    for (Object entry : entries) {
      if (entry instanceof Map<?, ?> model && model.get("id") instanceof String) {
        Map<String, @Nullable Object> copy = new LinkedHashMap<>();
        model.forEach((key, value) -> copy.put(String.valueOf(key), value));
        models.add(copy);
      }
    }
    return models;
  }

  private static @Nullable Object tree(byte[] body) throws BrokenAnswerException {
    try {
      return Json.parse(body);
    } catch (MalformedJsonException malformed) {
      throw new BrokenAnswerException(String.valueOf(malformed.getMessage()));
    }
  }

  /** The model of this id. */
  public static Optional<Map<String, @Nullable Object>> find(
      List<Map<String, @Nullable Object>> models, String id) {
    return models.stream().filter(model -> id.equals(model.get("id"))).findFirst();
  }

  /** One model for a client of Anthropic. */
  public static Map<String, @Nullable Object> anthropicModel(Map<String, @Nullable Object> model) {
    Map<String, @Nullable Object> told = new LinkedHashMap<>();
    told.put("type", "model");
    told.put("id", model.get("id"));
    told.put("display_name", model.get("id"));
    // "May be set to an epoch value if the release date is unknown."
    long seconds = model.get("created") instanceof Number created ? created.longValue() : 0;
    boolean sane = seconds > 0 && seconds < Instant.parse("9999-12-31T00:00:00Z").getEpochSecond();
    told.put("created_at", Instant.ofEpochSecond(sane ? seconds : 0).toString());
    return told;
  }

  /** All models for a client of Anthropic, on one page. */
  public static Map<String, @Nullable Object> anthropicPage(
      List<Map<String, @Nullable Object>> models) {
    Map<String, @Nullable Object> page = new LinkedHashMap<>();
    page.put("data", models.stream().map(ModelLists::anthropicModel).toList());
    page.put("has_more", false);
    page.put("first_id", models.isEmpty() ? null : models.getFirst().get("id"));
    page.put("last_id", models.isEmpty() ? null : models.getLast().get("id"));
    return page;
  }
}
