package dev.blackbox.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Bodies that are refused: 400 with the reference server's faults, and nothing asked of the
 * rollout. The cases and what they answer are those of the reference's contract probes, and some of
 * ours.
 */
class BadBodiesTest {

  private static final String REGISTER = "/v1/rollout/register";
  private static final String MESSAGES = "/v1/sessions/sess-1/messages";
  private static final String EXECUTE = "/v1/sessions/sess-1/execute_cmd";
  private static final String PAUSE = "/v1/rollout/pause";
  private static final String RESUME = "/v1/rollout/resume";

  private static DoorFixture fixture;

  @BeforeAll
  static void open() throws PortTakenException {
    fixture = new DoorFixture();
  }

  @AfterAll
  static void close() {
    fixture.close();
  }

  record Case(String path, String contentType, String body, List<String> faults) {
    static Case of(String path, String json, String... faults) {
      return new Case(path, "application/json", json, List.of(faults));
    }

    Case as(String otherType) {
      return new Case(path, otherType, body, faults);
    }

    @Override
    public String toString() {
      return path + " " + body;
    }
  }

  static Stream<Case> everyBodyThatMustBeThere() {
    return Stream.of(REGISTER, MESSAGES, EXECUTE)
        .flatMap(
            path ->
                Stream.of(
                    Case.of(path, "", "missing body"),
                    Case.of(path, "null", "missing body"),
                    Case.of(path, "[]", "model_attributes_type body"),
                    Case.of(path, "[1]", "model_attributes_type body"),
                    Case.of(path, "\"x\"", "model_attributes_type body"),
                    Case.of(path, "7", "model_attributes_type body"),
                    Case.of(path, "{}", "model_attributes_type body").as("text/plain"),
                    Case.of(path, "a=b", "model_attributes_type body")
                        .as("application/x-www-form-urlencoded"),
                    Case.of(path, "{not json", "json_invalid body.1"),
                    Case.of(path, "hello", "json_invalid body.0"),
                    Case.of(path, "{} {}", "json_invalid body.3"),
                    Case.of(path, "  ", "json_invalid body.0")));
  }

  static Stream<Case> register() {
    return Stream.of(
        register("{}", "missing body.blackbox_type", "missing body.router"),
        register("{'blackbox_type':3,'router':'h'}", "string_type body.blackbox_type"),
        register("{'blackbox_type':'x','router':5}", "string_type body.router"),
        register("{'blackbox_type':null,'router':'h'}", "string_type body.blackbox_type"),
        field("'router_api_path':null", "string_type body.router_api_path"),
        field("'bound_session_id':17", "string_type body.bound_session_id"),
        field("'bound_instance_id':[]", "string_type body.bound_instance_id"),
        field("'bound_sandbox_id':{}", "string_type body.bound_sandbox_id"),
        field("'system_prompt_file':4", "string_type body.system_prompt_file"),
        field("'system_prompt_file':'a\\u0000b'", "string_nul body.system_prompt_file"),
        field("'backend_options':null", "dict_type body.backend_options"),
        field("'backend_options':[]", "dict_type body.backend_options"),
        field("'server_config':[]", "model_attributes_type body.server_config"),
        config("'max_sessions':0", "greater_than_equal", "max_sessions"),
        config("'execute_cmd_timeout':0", "greater_than", "execute_cmd_timeout"),
        config("'backend_timeout':'soon'", "float_parsing", "backend_timeout"),
        config("'backend_timeout':0", "greater_than", "backend_timeout"),
        config("'backend_timeout':Infinity", "finite_number", "backend_timeout"),
        config("'backend_timeout':{}", "float_type", "backend_timeout"),
        config(
            "'runtime_health_check_retries':0",
            "greater_than_equal",
            "runtime_health_check_retries"),
        config(
            "'runtime_health_check_retry_delay':-1",
            "greater_than_equal",
            "runtime_health_check_retry_delay"),
        config("'max_turns':1.5", "int_from_float", "max_turns"),
        config("'max_turns':-1", "greater_than_equal", "max_turns"),
        config("'max_turns':'many'", "int_parsing", "max_turns"),
        config("'max_turns':[]", "int_type", "max_turns"),
        config("'max_turns':NaN", "finite_number", "max_turns"),
        config("'max_turns':99999999999", "less_than_equal", "max_turns"),
        config("'runtime_root':1", "string_type", "runtime_root"));
  }

  private static Case register(String json, String... faults) {
    return Case.of(REGISTER, json.replace('\'', '"'), faults);
  }

  private static Case field(String field, String fault) {
    return register("{'blackbox_type':'x','router':'h'," + field + "}", fault);
  }

  private static Case config(String field, String type, String name) {
    return field("'server_config':{" + field + "}", type + " body.server_config." + name);
  }

  static Stream<Case> messages() {
    return Stream.of(
        submit("{}", "missing body.messages"),
        submit("{'messages':null}", "list_type body.messages"),
        submit("{'messages':'hi'}", "list_type body.messages"),
        submit("{'messages':{}}", "list_type body.messages"),
        message("'hi'", "model_attributes_type body.messages.0"),
        message("null", "model_attributes_type body.messages.0"),
        message("{'content':'hi'}", "missing body.messages.0.role"),
        message("{'role':'robot'}", "literal_error body.messages.0.role"),
        message("{'role':null}", "literal_error body.messages.0.role"),
        message("{'role':'user','content':5}", "string_type body.messages.0.content"),
        message("{'role':'user','content':[]}", "string_type body.messages.0.content"),
        message("{'role':'user','name':1}", "string_type body.messages.0.name"),
        message("{'role':'tool','tool_call_id':1}", "string_type body.messages.0.tool_call_id"),
        message("{'role':'user','tool_calls':{}}", "list_type body.messages.0.tool_calls"),
        message(
            "{'role':'user','tool_calls':[{'id':1}]}",
            "string_type body.messages.0.tool_calls.0.id",
            "missing body.messages.0.tool_calls.0.function"),
        message(
            "{'role':'user','tool_calls':[{'id':'a','type':'x','function':{'name':1}}]}",
            "literal_error body.messages.0.tool_calls.0.type",
            "string_type body.messages.0.tool_calls.0.function.name",
            "missing body.messages.0.tool_calls.0.function.arguments"),
        message("{'role':'user','content':'a\\u0000b'}", "string_nul body.messages.0.content"),
        message("{'role':'user','content':'\\ud800'}", "string_unicode body.messages.0.content"),
        message("{'role':'user','x':'\\udc00'}", "string_unicode body.messages.0.x"),
        submit("{'messages':[],'turn_id':1}", "string_type body.turn_id"),
        submit("{'messages':[],'turn_id':'-\\ud800'}", "string_unicode body.turn_id"),
        submit("{'messages':[],'mode':'later'}", "literal_error body.mode"),
        submit("{'messages':[],'mode':null}", "literal_error body.mode"),
        submit("{'messages':[],'metadata':null}", "dict_type body.metadata"),
        submit("{'messages':[],'metadata':[]}", "dict_type body.metadata"),
        submit("{'messages':[],'metadata':NaN}", "dict_type body.metadata"),
        submit("{'messages':[],'metadata':{'\\ud800':1}}", "json_invalid body.34"),
        submit(
            "{'messages':5,'mode':1,'turn_id':[],'metadata':''}",
            "string_type body.turn_id",
            "literal_error body.mode",
            "list_type body.messages",
            "dict_type body.metadata"));
  }

  private static Case submit(String json, String... faults) {
    return Case.of(MESSAGES, json.replace('\'', '"'), faults);
  }

  private static Case message(String message, String... faults) {
    return submit("{'turn_id':'t','messages':[" + message + "]}", faults);
  }

  static Stream<Case> others() {
    return Stream.of(
        Case.of(EXECUTE, "{}", "missing body.cmd"),
        Case.of(EXECUTE, "{\"cmd\":null}", "string_type body.cmd"),
        Case.of(EXECUTE, "{\"cmd\":5}", "string_type body.cmd"),
        Case.of(EXECUTE, "{\"cmd\":\"x\",\"timeout\":0}", "greater_than body.timeout"),
        Case.of(EXECUTE, "{\"cmd\":\"x\",\"timeout\":-1}", "greater_than body.timeout"),
        Case.of(EXECUTE, "{\"cmd\":\"x\",\"timeout\":NaN}", "greater_than body.timeout"),
        Case.of(EXECUTE, "{\"cmd\":\"x\",\"timeout\":\"abc\"}", "float_parsing body.timeout"),
        Case.of(EXECUTE, "{\"cmd\":\"x\",\"timeout\":\"0x5\"}", "float_parsing body.timeout"),
        Case.of(EXECUTE, "{\"cmd\":\"x\",\"timeout\":[]}", "float_type body.timeout"),
        Case.of(PAUSE, "{\"timeout_seconds\":0}", "greater_than body.timeout_seconds"),
        Case.of(PAUSE, "{\"reason\":null}", "string_type body.reason"),
        Case.of(PAUSE, "{\"reason\":7}", "string_type body.reason"),
        Case.of(PAUSE, "[]", "model_attributes_type body"),
        Case.of(PAUSE, "{", "json_invalid body.1"),
        Case.of(RESUME, "{\"version\":1}", "string_type body.version"),
        Case.of(RESUME, "{\"reason\":7}", "string_type body.reason"));
  }

  @ParameterizedTest
  @MethodSource({"everyBodyThatMustBeThere", "register", "messages", "others"})
  void isRefusedWithAllItsFaultsAndChangesNothing(Case bad) throws IOException {
    fixture.rollout.calls.clear();
    RawClient.Reply reply =
        fixture.post(bad.path(), bad.contentType(), bad.body().getBytes(StandardCharsets.UTF_8));
    assertThat(reply.status()).isEqualTo(400);
    assertThat(reply.headers().get("content-type")).isEqualTo("application/json");
    assertThat(reply.at("error")).isEqualTo("request_error");
    assertThat(reply.faults()).containsExactly(bad.faults().toArray(new String[0]));
    assertThat(reply.at("request_id")).isEqualTo(reply.headers().get("x-request-id"));
    assertThat(fixture.rollout.calls).isEmpty();
  }

  @Test
  void depthAndSizeOfJsonAreBounded() throws IOException {
    fixture.rollout.calls.clear();
    String deep =
        "{\"messages\":[],\"metadata\":" + "{\"a\":".repeat(20_000) + "1" + "}".repeat(20_001);
    String wide = "{\"messages\":[" + "[],".repeat(1_100_000) + "[]]}";
    String wrong = "{\"messages\":[" + "1,".repeat(100_000) + "1]}";
    assertThat(fixture.post(MESSAGES, deep).faults()).containsExactly("json_invalid body.0");
    assertThat(fixture.post(MESSAGES, wide).faults()).containsExactly("json_invalid body.0");
    RawClient.Reply reply = fixture.post(MESSAGES, wrong);
    assertThat(reply.faults()).hasSize(Faults.LISTED_MAX);
    assertThat(String.valueOf(reply.at("message"))).contains("100000 more");
    assertThat(fixture.rollout.calls).isEmpty();
  }

  @Test
  void bytesThatAreNotUtf8AreNotJson() throws IOException {
    fixture.rollout.calls.clear();
    byte[] invalid = "{\"cmd\":\"__\"}".getBytes(StandardCharsets.UTF_8);
    invalid[8] = (byte) 0xFF;
    assertThat(fixture.post(EXECUTE, "application/json", invalid).faults())
        .containsExactly("json_invalid body.8");
    byte[] encodedSurrogate = "{\"cmd\":\"___\"}".getBytes(StandardCharsets.UTF_8);
    encodedSurrogate[8] = (byte) 0xED;
    encodedSurrogate[9] = (byte) 0xA0;
    encodedSurrogate[10] = (byte) 0x80;
    assertThat(fixture.post(EXECUTE, "application/json", encodedSurrogate).status()).isEqualTo(400);
    assertThat(fixture.rollout.calls).isEmpty();
  }

  @Test
  void anAnswerNeverRepeatsMoreThanALittleOfTheRequest() throws IOException {
    String secret = "s3cret".repeat(20_000);
    for (String body :
        List.of(
            "{\"messages\":\"" + secret + "\"}",
            "{\"messages\":[{\"role\":\"" + secret + "\"}]}",
            "{\"messages\":[],\"" + secret + "\":\"\\ud800\"}")) {
      assertThat(fixture.post(MESSAGES, body).body().length()).isLessThan(1000);
    }
    RawClient.Reply plain =
        fixture.post(MESSAGES, "text/plain", secret.getBytes(StandardCharsets.UTF_8));
    assertThat(plain.body()).doesNotContain("s3cret");
  }
}
