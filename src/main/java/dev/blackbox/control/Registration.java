package dev.blackbox.control;

import dev.blackbox.agent.Backend;
import dev.blackbox.control.Rollout.RegisterRequest;
import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.InstanceId;
import dev.blackbox.kernel.Problem;
import dev.blackbox.kernel.SessionId;
import dev.blackbox.proxy.ProxyOptions;
import dev.blackbox.proxy.ProxyOptionsParser;
import dev.blackbox.turn.SessionSnapshot.SystemPrompt;
import dev.blackbox.wire.Fingerprints;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A registration whose every part that can be checked without starting anything is checked, in the
 * order of the reference server's rejection catalogue (section 9.1).
 *
 * @param agentOptions {@code backend_options} without {@code proxy}
 * @param promptFileLost true if the file of the system prompt cannot be read: then only a repeat of
 *     the binding that stands can be meant
 */
record Registration(
    RegisterRequest request,
    RouterAddress router,
    Backend backend,
    ProxyOptions proxyOptions,
    Map<String, @Nullable Object> agentOptions,
    SessionId sessionId,
    InstanceId instanceId,
    Optional<SystemPrompt> systemPrompt,
    Optional<Problem> promptFileLost,
    ServerSettings effective) {

  static Registration check(
      RegisterRequest request,
      Function<String, Optional<Backend>> backends,
      ServerSettings base,
      int systemPromptBytesMax) {
    return check(request, backends, base, systemPromptBytesMax, List.of());
  }

  /**
   * The same, with a system prompt file only from under {@code promptRoots}, unless there are none.
   */
  static Registration check(
      RegisterRequest request,
      Function<String, Optional<Backend>> backends,
      ServerSettings base,
      int systemPromptBytesMax,
      List<Path> promptRoots) {
    RouterAddress router = RouterAddress.parse(request.router(), request.routerApiPath());
    Optional<SystemPrompt> prompt = Optional.empty();
    Optional<Problem> promptLost = Optional.empty();
    if (request.systemPromptFile().isPresent()) {
      try {
        prompt =
            Optional.of(
                readPrompt(request.systemPromptFile().get(), systemPromptBytesMax, promptRoots));
      } catch (Problem lost) {
        promptLost = Optional.of(lost);
      }
    }
    Backend backend =
        backends.apply(request.blackboxType()).orElseThrow(() -> unknownType(request));
    if (request.systemPromptFile().isPresent() && !backend.capabilities().systemMessage()) {
      throw Problem.badRequest(
          backend.type() + " takes no system prompt; leave system_prompt_file out.",
          typeOf(request));
    }
    if (request.backendOptions().getOrDefault("proxy", Map.of()) == null) {
      throw Problem.badRequest(
          "backend_options.proxy must be an object; leave it out for the defaults.",
          typeOf(request));
    }
    ProxyOptions proxyOptions = ProxyOptionsParser.fromBackendOptions(request.backendOptions());
    Map<String, @Nullable Object> agentOptions = new LinkedHashMap<>(request.backendOptions());
    agentOptions.remove("proxy");
    SessionId sessionId = SessionId.parse(required("bound_session_id", request.sessionId()));
    InstanceId instanceId = InstanceId.parse(required("bound_instance_id", request.instanceId()));
    return new Registration(
        request,
        router,
        backend,
        proxyOptions,
        agentOptions,
        sessionId,
        instanceId,
        prompt,
        promptLost,
        SettingOverrides.apply(base, request.serverConfig()));
  }

  /**
   * Hash of all parameters but the content of the prompt file; without a prompt it is the reference
   * server's value.
   */
  String parametersFingerprint() {
    return Fingerprints.of(parameters());
  }

  /** Hash of all parameters, the content of the prompt file included. */
  String fingerprint() {
    Map<String, @Nullable Object> parameters = parameters();
    systemPrompt.ifPresent(
        prompt ->
            parameters.put(
                "system_prompt_sha256",
                Fingerprints.sha256Hex(prompt.text().getBytes(StandardCharsets.UTF_8))));
    return Fingerprints.of(parameters);
  }

  private Map<String, @Nullable Object> parameters() {
    Map<String, @Nullable Object> parameters = new LinkedHashMap<>();
    parameters.put("blackbox_type", request.blackboxType());
    parameters.put("router_base_url", router.baseUrl());
    parameters.put("bound_session_id", sessionId.value());
    parameters.put("bound_instance_id", instanceId.value());
    parameters.put("bound_sandbox_id", request.sandboxId().orElse(null));
    parameters.put(
        "system_prompt_file",
        request.systemPromptFile().map(file -> absolute(file).toString()).orElse(null));
    parameters.put("backend_options", request.backendOptions());
    parameters.put("server_config", request.serverConfig());
    return parameters;
  }

  private static Path absolute(String file) {
    try {
      return Path.of(file).toAbsolutePath().normalize();
    } catch (InvalidPathException malformed) {
      throw new Problem(
          ErrorCode.REQUEST_ERROR,
          "system_prompt_file is not a path: " + malformed.getReason() + ".",
          Map.of(),
          malformed);
    }
  }

  private static SystemPrompt readPrompt(String file, int bytesMax, List<Path> roots) {
    Path path = absolute(file);
    Path real = roots.isEmpty() ? path : realUnder(roots, path);
    if (!Files.isRegularFile(real)) {
      throw Problem.badRequest(
          "system_prompt_file must be an existing regular file; got " + path + ".", Map.of());
    }
    try {
      if (Files.size(real) > bytesMax) {
        throw Problem.badRequest(
            "system_prompt_file is larger than " + bytesMax + " bytes: " + path + ".", Map.of());
      }
      String text =
          StandardCharsets.UTF_8
              .newDecoder()
              .decode(ByteBuffer.wrap(Files.readAllBytes(real)))
              .toString();
      return new SystemPrompt(path.toString(), text);
    } catch (CharacterCodingException notText) {
      throw new Problem(
          ErrorCode.REQUEST_ERROR,
          "system_prompt_file is not UTF-8 text: " + path + ".",
          Map.of(),
          notText);
    } catch (IOException unreadable) {
      throw new Problem(
          ErrorCode.REQUEST_ERROR,
          "system_prompt_file cannot be read: " + path + ".",
          Map.of(),
          unreadable);
    }
  }

  /**
   * Where the path leads, links followed: read this one, so that a link that is changed later leads
   * nowhere else. Of files elsewhere the answer does not tell whether they exist.
   */
  private static Path realUnder(List<Path> roots, Path path) {
    Optional<Path> real = real(path);
    for (Path root : roots) {
      Optional<Path> realRoot = real(root);
      if (real.isPresent() && realRoot.isPresent() && real.get().startsWith(realRoot.get())) {
        return real.get();
      }
    }
    throw Problem.badRequest(
        "system_prompt_file must be an existing regular file under one of the directories in"
            + " BBS_PROMPT_ROOTS; got "
            + path
            + ".",
        Map.of());
  }

  private static Optional<Path> real(Path path) {
    try {
      return Optional.of(path.toRealPath());
    } catch (IOException missing) {
      return Optional.empty();
    }
  }

  private static String required(String field, Optional<String> value) {
    return value
        .filter(text -> !text.isEmpty())
        .orElseThrow(
            () -> Problem.badRequest(field + " is required and must not be empty.", Map.of()));
  }

  private static Problem unknownType(RegisterRequest request) {
    return Problem.badRequest(
        "blackbox_type \"" + request.blackboxType() + "\" is not one of this server's backends.",
        typeOf(request));
  }

  private static Map<String, Object> typeOf(RegisterRequest request) {
    return Map.of("blackbox_type", request.blackboxType());
  }
}
