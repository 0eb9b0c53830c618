package dev.blackbox.ledger;

import dev.blackbox.kernel.Problem;
import dev.blackbox.ledger.LedgerFacts.CallFact;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The one thread that writes. It takes what waits, evaluates it in one transaction, has its facts
 * made safe together, and then answers all: a forced write is paid once per batch.
 */
final class Writer {

  private static final System.Logger LOG = System.getLogger(Writer.class.getName());

  /** Bounds of a batch: how long its first caller waits for the others, and how much memory. */
  private static final int ENTRIES_PER_BATCH_MAX = 256;

  private static final long BATCH_BYTES_MAX = 4L << 20;

  /** While the disk is full or notes wait for it, perhaps nobody calls: so look again by itself. */
  private static final Duration RETRY_EVERY = Duration.ofSeconds(1);

  /** So long notes wait for others, while nobody waits for anything: one force serves them all. */
  private static final Duration NOTES_GATHERED = Duration.ofMillis(20);

  private final Storage storage;
  private final InstantSource clock;
  private final BlockingQueue<Entry> queue;
  private final Thread thread;

  /** Notes of a batch that failed: nobody waits for them, and none may be lost. In order. */
  private final Deque<Note> carried = new ArrayDeque<>();

  private volatile boolean closing;
  private volatile boolean ended;

  private Writer(Storage storage, InstantSource clock, int queueMax) {
    this.storage = storage;
    this.clock = clock;
    this.queue = new ArrayBlockingQueue<>(queueMax);
    this.thread = Thread.ofPlatform().daemon().name("ledger-writer").unstarted(this::run);
  }

  /** Takes over {@code storage}, and closes it at the end. */
  static Writer start(Storage storage, InstantSource clock, int queueMax) {
    Writer writer = new Writer(storage, clock, queueMax);
    writer.thread.start();
    return writer;
  }

  private sealed interface Entry {}

  private record Verb<T>(Function<Batch, T> body, CompletableFuture<T> answer) implements Entry {}

  private record Note(CallFact call) implements Entry {}

  /** A read failed: look at the database. */
  private record Check(RuntimeException failure) implements Entry {}

  private record Stop() implements Entry {}

  /** Runs a verb, and waits for the answer whether interrupted or not: it may be recorded. */
  <T> T run(Function<Batch, T> body) {
    Verb<T> verb = new Verb<>(body, new CompletableFuture<>());
    if (closing) {
      throw closed();
    }
    if (!queue.offer(verb)) {
      throw Problem.unavailable(
          "Too many requests wait for the ledger; try again.", Map.of("waiting_max", queue.size()));
    }
    if (ended && queue.remove(verb)) {
      throw closed();
    }
    try {
      return verb.answer.join();
    } catch (CompletionException failed) {
      if (failed.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw failed;
    }
  }

  /** Takes a note without waiting for it, unless the queue is full. */
  void note(CallFact call) {
    if (closing) {
      throw closed();
    }
    Entry note = new Note(call);
    put(note);
    if (ended && queue.remove(note)) {
      throw closed();
    }
  }

  void check(RuntimeException failure) {
    if (!queue.offer(new Check(failure))) {
      LOG.log(System.Logger.Level.DEBUG, "a full queue finds a closed database by itself");
    }
  }

  /** Takes nothing more, finishes what waits, and closes the storage. */
  void stop() {
    closing = true;
    put(new Stop());
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException again) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Waits for a place in the queue, whether interrupted or not. */
  private void put(Entry entry) {
    boolean interrupted = false;
    boolean taken = false;
    while (!taken) {
      if (ended) {
        throw closed();
      }
      try {
        taken = queue.offer(entry, 100, TimeUnit.MILLISECONDS);
      } catch (InterruptedException again) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private static Problem closed() {
    return Problem.unavailable("The ledger is closed.", Map.of());
  }

  // ---- the writer's thread ----

  private void run() {
    boolean goOn = true;
    while (goOn) {
      List<Entry> batch = new ArrayList<>();
      try {
        goOn = runNext(batch);
      } catch (RuntimeException | Error bug) {
        // Not of a verb: those are caught one by one. Nobody may wait for ever because of it.
        LOG.log(System.Logger.Level.ERROR, "the ledger's writer failed", bug);
        storage.rollback();
        batch.forEach(entry -> fail(entry, bug));
      }
    }
    ended = true;
    for (Entry late = queue.poll(); late != null; late = queue.poll()) {
      if (late instanceof Note note) {
        carried.add(note);
      }
      fail(late, closed());
    }
    if (!carried.isEmpty()) {
      LOG.log(
          System.Logger.Level.ERROR,
          "{0} facts about model calls could not be recorded before the end",
          carried.size());
    }
    storage.close();
  }

  /** False after the stop. */
  private boolean runNext(List<Entry> batch) {
    @Nullable Entry first = nextEntry();
    batch.addAll(carried);
    carried.clear();
    if (first != null) {
      batch.add(first);
      gather(batch);
    }
    if (!batch.isEmpty()) {
      writeOrAnswer(batch);
    }
    for (Entry entry : batch) {
      if (entry instanceof Check check) {
        storage.check(check.failure);
      }
    }
    storage.checkpointIfDue();
    return batch.stream().noneMatch(Stop.class::isInstance);
  }

  /** Adds notes, until one comes for whom somebody waits, or time or room are up. */
  private void gather(List<Entry> batch) {
    long until = System.nanoTime() + NOTES_GATHERED.toNanos();
    while (batch.getLast() instanceof Note && batch.size() < ENTRIES_PER_BATCH_MAX) {
      @Nullable Entry next = poll(until - System.nanoTime());
      if (next == null) {
        return;
      }
      batch.add(next);
    }
  }

  private @Nullable Entry nextEntry() {
    Duration wait = storage.untilCheckpoint();
    boolean waits = !carried.isEmpty() || !storage.trouble().isEmpty();
    if (waits && wait.compareTo(RETRY_EVERY) > 0) {
      wait = RETRY_EVERY;
    }
    return poll(wait.toNanos());
  }

  private @Nullable Entry poll(long nanosMax) {
    try {
      return queue.poll(nanosMax, TimeUnit.NANOSECONDS);
    } catch (InterruptedException nobodyDoes) {
      LOG.log(System.Logger.Level.WARNING, "the writer was interrupted and goes on");
      return null;
    }
  }

  private void writeOrAnswer(List<Entry> batch) {
    try {
      // A database that fails before anything is written may be opened again at once: second try.
      if (storage.isUp() && (write(batch) || (storage.isUp() && write(batch)))) {
        return;
      }
      answerFromRows(batch, storage.unavailable());
    } catch (UnwrittenException unwritten) {
      Problem problem = unwritten.toProblem();
      if (unwritten.isRecorded()) {
        batch.forEach(entry -> fail(entry, problem));
      } else {
        answerFromRows(batch, problem);
      }
    }
  }

  /**
   * Evaluates the batch and what else waits, up to the bounds, and commits it.
   *
   * @return false if the database failed before anything was written
   */
  private boolean write(List<Entry> batch) throws UnwrittenException {
    List<Runnable> answers = new ArrayList<>();
    Batch facts;
    try {
      facts = storage.begin(clock);
      for (int i = 0; i < batch.size(); i++) {
        answers.add(evaluate(facts, batch.get(i)));
        boolean room =
            batch.size() < ENTRIES_PER_BATCH_MAX
                && facts.bytes() < BATCH_BYTES_MAX
                && !(batch.getLast() instanceof Stop);
        @Nullable Entry next = room ? queue.poll() : null;
        if (next != null) {
          batch.add(next);
        }
      }
    } catch (RuntimeException databaseFailed) {
      storage.failed(databaseFailed);
      return false;
    }
    storage.commit(facts);
    answers.forEach(Runnable::run);
    return true;
  }

  /**
   * One entry, in a savepoint of its own, so that one that fails hurts only its caller.
   *
   * @return the answer, to be given once the batch is safe
   */
  private Runnable evaluate(Batch facts, Entry entry) {
    return switch (entry) {
      case Verb<?> verb -> evaluateVerb(facts, verb);
      case Note note -> evaluateNote(facts, note);
      case Check _, Stop _ -> () -> {};
    };
  }

  private static <T> Runnable evaluateVerb(Batch facts, Verb<T> verb) {
    return inSavepoint(
        facts,
        () -> {
          T result = verb.body.apply(facts);
          return () -> verb.answer.complete(result);
        },
        verb.answer::completeExceptionally);
  }

  private static Runnable evaluateNote(Batch facts, Note note) {
    return inSavepoint(
        facts,
        () -> {
          SlotVerbs.note(facts, note.call);
          return () -> {};
        },
        failure ->
            LOG.log(
                System.Logger.Level.ERROR,
                "a fact about a model call does not fit and is left out: {0}",
                Storage.rootMessage(failure)));
  }

  private static Runnable inSavepoint(
      Batch facts, Supplier<Runnable> body, Consumer<Throwable> failed) {
    Batch.Mark mark = facts.mark();
    // Before the first fact there is nothing to keep, and the whole transaction can go back.
    boolean first = facts.isEmpty();
    if (!first) {
      facts.rows().savepoint("entry");
    }
    try {
      Runnable answer = body.get();
      if (!first) {
        facts.rows().releaseSavepoint("entry");
      }
      return answer;
    } catch (RuntimeException | Error failure) {
      if (first) {
        facts.rows().rollback();
        facts.rows().begin();
      } else {
        facts.rows().rollbackToSavepoint("entry");
      }
      facts.backTo(mark);
      return () -> failed.accept(failure);
    }
  }

  /**
   * While nothing can be recorded: what needs no new fact, as a replay, is answered from what is
   * there; the others fail with {@code problem}; notes stay.
   */
  private void answerFromRows(List<Entry> batch, Problem problem) {
    for (Entry entry : batch) {
      switch (entry) {
        case Verb<?> verb -> answerFromRows(verb, problem);
        case Note note -> carried.add(note);
        case Check _, Stop _ -> {}
      }
    }
  }

  private <T> void answerFromRows(Verb<T> verb, Problem problem) {
    try {
      // Rows that are changed and changed back would still be written, to a disk that takes
      // nothing.
      Batch facts = storage.beginReadOnly(clock);
      try {
        verb.answer.complete(verb.body.apply(facts));
      } catch (Batch.ReadOnlyException needsFacts) {
        LOG.log(System.Logger.Level.DEBUG, "not answered without recording", needsFacts);
        verb.answer.completeExceptionally(problem);
      } finally {
        storage.rollback();
      }
    } catch (Problem ofVerb) {
      verb.answer.completeExceptionally(ofVerb);
    } catch (RuntimeException noRows) {
      LOG.log(System.Logger.Level.DEBUG, "not answered from rows", noRows);
      verb.answer.completeExceptionally(problem);
    }
  }

  private static void fail(Entry entry, Throwable failure) {
    if (entry instanceof Verb<?> verb) {
      verb.answer.completeExceptionally(failure);
    }
  }
}
