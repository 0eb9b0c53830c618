package dev.blackbox.translate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.wire.Json;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Any conversation that a dialect can express goes to chat completions and comes back, with all
 * that was said, its calls, their ids and the order; and then to chat completions again, the same.
 * Nothing in the product reads a chat completion request back: the way back is this test's own.
 */
class BothWaysTest {

  private static final int CONVERSATIONS = 500;

  @Test
  void anthropicConversationsComeBack() throws Exception {
    Seeds.check(
        "anthropicConversationsComeBack",
        CONVERSATIONS,
        random -> {
          Map<String, @Nullable Object> request = AnthropicTalk.random(random);
          TranslatedRequest there = AnthropicRequests.toChat(request, TranslationOptions.DEFAULT);
          Map<String, @Nullable Object> back = AnthropicTalk.back(there);
          assertThat(AnthropicTalk.said(back)).isEqualTo(AnthropicTalk.said(request));
          checkAgain(there, AnthropicRequests.toChat(back, TranslationOptions.DEFAULT));
          checkIds(there, Json.write(request), "\"id\":\"toolu_");
        });
  }

  @Test
  void responsesConversationsComeBack() throws Exception {
    Seeds.check(
        "responsesConversationsComeBack",
        CONVERSATIONS,
        random -> {
          Map<String, @Nullable Object> request = ResponsesTalk.random(random);
          TranslatedRequest there = ResponsesRequests.toChat(request, TranslationOptions.DEFAULT);
          Map<String, @Nullable Object> back = ResponsesTalk.back(there, request.get("tools"));
          assertThat(ResponsesTalk.said(back)).isEqualTo(ResponsesTalk.said(request));
          checkAgain(there, ResponsesRequests.toChat(back, TranslationOptions.DEFAULT));
          checkIds(there, Json.write(request), "\"call_id\":\"call-");
        });
  }

  private static void checkAgain(TranslatedRequest there, TranslatedRequest again) {
    assertThat(Json.write(again.chat().get("messages")))
        .isEqualTo(Json.write(there.chat().get("messages")));
  }

  /** Ids that an agent gave are not others in the chat completion. */
  private static void checkIds(TranslatedRequest there, String request, String mark) {
    int from = request.indexOf(mark);
    while (from >= 0) {
      int start = request.indexOf(":\"", from) + 2;
      assertThat(there.callIds()).contains(request.substring(start, request.indexOf('"', start)));
      from = request.indexOf(mark, start);
    }
  }
}
