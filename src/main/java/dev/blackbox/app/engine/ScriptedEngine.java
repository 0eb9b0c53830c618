package dev.blackbox.app.engine;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.blackbox.app.engine.ChatPlayer.End;
import dev.blackbox.kernel.Resource;
import dev.blackbox.wire.Json;
import dev.blackbox.wire.MalformedJsonException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * An engine that answers by a script, on 127.0.0.1: {@code POST …/chat/completions}, plain and
 * streamed, {@code GET …/models}, {@code POST …/rollout/pause} and {@code …/rollout/resume}, under
 * any prefix. Remembers what it was asked. While it is paused, model calls wait.
 */
public final class ScriptedEngine implements Resource {

  private static final System.Logger LOG = System.getLogger(ScriptedEngine.class.getName());

  /** Requests that are remembered; of more, the newest. */
  private static final int REQUESTS_KEPT_MAX = 10_000;

  private static final int BACKLOG = 1024;
  private static final Duration PAUSE_LOOK = Duration.ofMillis(20);

  private final ServerSocket listener;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final ReentrantLock lock = new ReentrantLock();
  private final EngineRollout rollout = new EngineRollout();
  private volatile EngineScript script;

  @GuardedBy("lock")
  private final Set<EngineConnection> connections = new HashSet<>();

  @GuardedBy("lock")
  private final Deque<EngineRequest> requests = new ArrayDeque<>();

  @GuardedBy("lock")
  private final Map<String, Integer> faultsShown = new HashMap<>();

  @GuardedBy("lock")
  private EngineUsage usage = EngineUsage.NONE;

  @GuardedBy("lock")
  private long chatCalls;

  @GuardedBy("lock")
  private int disconnects;

  @GuardedBy("lock")
  private boolean closed;

  private ScriptedEngine(ServerSocket listener, EngineScript script) {
    this.listener = listener;
    this.script = script;
  }

  /**
   * Starts to listen.
   *
   * @param port 0 lets the system choose one
   * @throws UncheckedIOException if the port cannot be had
   */
  @SuppressWarnings("FutureReturnValueIgnored") // the listener logs its own failures
  public static ScriptedEngine start(int port, EngineScript script) {
    try {
      ServerSocket listener =
          new ServerSocket(port, BACKLOG, InetAddress.getByAddress(new byte[] {127, 0, 0, 1}));
      ScriptedEngine engine = new ScriptedEngine(listener, script);
      engine.threads.submit(engine::listen);
      return engine;
    } catch (IOException failed) {
      throw new UncheckedIOException(
          "the scripted engine cannot listen on 127.0.0.1:" + port, failed);
    }
  }

  public int port() {
    return listener.getLocalPort();
  }

  /** Scheme, host and port, without a path. */
  public URI origin() {
    return URI.create("http://127.0.0.1:" + port());
  }

  /** Goes by another script from the next call on. */
  public void script(EngineScript other) {
    script = other;
  }

  /** Answers pauses and resumes with this from now on; null: as an engine does. */
  public void answerControlCallsWith(Fault.@Nullable Instead answer) {
    rollout.answerWith(answer);
  }

  /** What it was asked, oldest first; at most the last 10,000. */
  public List<EngineRequest> requests() {
    lock.lock();
    try {
      return new ArrayList<>(requests);
    } finally {
      lock.unlock();
    }
  }

  /** As {@link #requests}, model calls only. */
  public List<EngineRequest> chatRequests() {
    return requests().stream().filter(EngineRequest::isChat).toList();
  }

  /** Answers that the other side hung up on before their end. */
  public int disconnects() {
    lock.lock();
    try {
      return disconnects;
    } finally {
      lock.unlock();
    }
  }

  /** What it reported as usage, in sum. */
  public EngineUsage usageReported() {
    lock.lock();
    try {
      return usage;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    Set<EngineConnection> open;
    lock.lock();
    try {
      closed = true;
      open = new HashSet<>(connections);
    } finally {
      lock.unlock();
    }
    try {
      listener.close();
    } catch (IOException failed) {
      LOG.log(System.Logger.Level.WARNING, "the engine's listener did not close well", failed);
    }
    open.forEach(EngineConnection::close);
    threads.close();
  }

  @SuppressWarnings("FutureReturnValueIgnored") // a connection logs its own failures
  private void listen() {
    while (!listener.isClosed()) {
      try {
        Socket socket = listener.accept();
        threads.submit(() -> serve(socket));
      } catch (IOException failed) {
        if (!listener.isClosed()) {
          LOG.log(System.Logger.Level.ERROR, "the scripted engine cannot accept", failed);
        }
      }
    }
  }

  private void serve(Socket socket) {
    try (EngineConnection connection = new EngineConnection(socket)) {
      if (!opened(connection)) {
        return;
      }
      try {
        boolean goOn = true;
        while (goOn) {
          EngineRequest request = connection.next();
          goOn = request != null && answer(connection, remembered(request));
        }
      } finally {
        forgotten(connection);
      }
    } catch (IOException gone) {
      LOG.log(System.Logger.Level.DEBUG, "a connection to the scripted engine broke", gone);
    } catch (RuntimeException bug) {
      LOG.log(System.Logger.Level.ERROR, "the scripted engine failed", bug);
    }
  }

  /** False if the connection is to be closed. */
  private boolean answer(EngineConnection connection, EngineRequest request) throws IOException {
    String path = request.path();
    if (request.isChat()) {
      return chat(connection, request);
    }
    if (request.method().equals("POST") && path.endsWith("/rollout/pause")) {
      respond(connection, rollout.pause(request.body()));
    } else if (request.method().equals("POST") && path.endsWith("/rollout/resume")) {
      respond(connection, rollout.resume(request.body()));
    } else if (request.method().equals("GET") && path.endsWith("/models")) {
      respond(connection, Fault.Instead.error(200, MODELS));
    } else {
      respond(connection, Fault.Instead.error(404, "{\"detail\": \"Not Found\"}"));
    }
    return true;
  }

  private static final String MODELS =
      "{\"object\": \"list\", \"data\": [{\"id\": \"scripted\", \"object\": \"model\","
          + " \"created\": 1700000000}]}";

  private static void respond(EngineConnection connection, Fault.Instead answer)
      throws IOException {
    connection.respond(
        answer.status(),
        answer.contentType(),
        Map.of(),
        answer.body().getBytes(StandardCharsets.UTF_8));
  }

  private boolean chat(EngineConnection connection, EngineRequest request) throws IOException {
    ChatQuestion question;
    try {
      question = ChatQuestion.read(request.body());
    } catch (MalformedJsonException | IllegalArgumentException malformed) {
      Map<String, Object> error = Map.of("message", String.valueOf(malformed.getMessage()));
      respond(connection, Fault.Instead.error(400, Json.write(Map.of("error", error))));
      return true;
    }
    while (rollout.paused()) {
      if (!connection.await(PAUSE_LOOK)) {
        return ended(End.HUNG_UP);
      }
    }
    List<Step> steps = script.stepsFor(question.lastUserText());
    Step step = steps.get(Math.min(question.assistantMessagesAfter(), steps.size() - 1));
    Optional<Fault> fault = faultNow(step, question.place());
    ChatReply reply = new ChatReply("chatcmpl-scripted-" + nextCall(), question, step, fault);
    ChatPlayer player = new ChatPlayer(connection, step, fault, reply);
    try {
      return ended(player.play(question.stream()));
    } catch (IOException hungUp) {
      return ended(End.HUNG_UP);
    } finally {
      if (player.usageSent()) {
        add(reply.usage());
      }
    }
  }

  private boolean ended(End end) {
    if (end == End.HUNG_UP) {
      lock.lock();
      try {
        disconnects++;
      } finally {
        lock.unlock();
      }
    }
    return end == End.WELL;
  }

  private Optional<Fault> faultNow(Step step, String place) {
    if (step.fault().isEmpty() || step.faultTimes() == Integer.MAX_VALUE) {
      return step.fault();
    }
    lock.lock();
    try {
      int shown = faultsShown.merge(place, 1, Integer::sum);
      return shown <= step.faultTimes() ? step.fault() : Optional.empty();
    } finally {
      lock.unlock();
    }
  }

  private long nextCall() {
    lock.lock();
    try {
      return ++chatCalls;
    } finally {
      lock.unlock();
    }
  }

  private void add(EngineUsage reported) {
    lock.lock();
    try {
      usage = usage.plus(reported);
    } finally {
      lock.unlock();
    }
  }

  private boolean opened(EngineConnection connection) {
    lock.lock();
    try {
      return !closed && connections.add(connection);
    } finally {
      lock.unlock();
    }
  }

  private void forgotten(EngineConnection connection) {
    lock.lock();
    try {
      connections.remove(connection);
    } finally {
      lock.unlock();
    }
  }

  private EngineRequest remembered(EngineRequest request) {
    lock.lock();
    try {
      requests.addLast(request);
      if (requests.size() > REQUESTS_KEPT_MAX) {
        requests.removeFirst();
      }
      return request;
    } finally {
      lock.unlock();
    }
  }
}
