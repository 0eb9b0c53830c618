package dev.blackbox.control;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * What several clients do, one action after the other each, and how the boot ends under them.
 *
 * @param seed decides the interleaving, and made the rest
 * @param clients the actions of each
 * @param endAtStep after so many steps of all threads the boot ends
 */
record Scenario(long seed, List<List<Action>> clients, End end, int endAtStep) {

  private static final int STEPS_MAX = 160;

  /** How a boot ends, after which another one follows. */
  enum End {
    /** It does not. */
    NONE,
    /** Everything in memory is gone. */
    KILL,
    /** The database too: the next boot makes it again from the journal. */
    KILL_AND_LOSE_DATABASE,
    /** In good order. */
    SHUTDOWN
  }

  /** What a client can do. Ids are those of turns; an empty one lets the server choose. */
  sealed interface Action {
    record Submit(String id, String prompt, boolean async) implements Action {}

    record Poll(String id) implements Action {}

    record Cancel(String id) implements Action {}

    record Abort() implements Action {}

    /** What is wrong with the engine is wrong for one control call. */
    record Pause(boolean engineFails, boolean engineRestless) implements Action {}

    record Resume(boolean engineFails) implements Action {}

    record Command() implements Action {}

    /** {@code maxTurns} 0: the same parameters as before. */
    record Register(int maxTurns, boolean startFails) implements Action {}

    record AgentDies() implements Action {}

    /** So many verbs fail, and record nothing. */
    record LedgerDown(int verbs) implements Action {}

    record Status() implements Action {}
  }

  static Scenario of(long seed) {
    Random random = new Random(seed);
    // Each id has a prompt that nearly all use, so that most repeats are retries.
    List<String> prompts = List.of(prompt(random), prompt(random), prompt(random));
    boolean generated = random.nextInt(10) == 0;
    List<List<Action>> clients = new ArrayList<>();
    int count = 2 + random.nextInt(2);
    for (int client = 0; client < count; client++) {
      List<Action> actions = new ArrayList<>();
      int length = 2 + random.nextInt(4);
      for (int i = 0; i < length; i++) {
        actions.add(
            client == 0 && i == 0
                ? submit(random, prompts, generated)
                : action(random, prompts, generated));
      }
      clients.add(List.copyOf(actions));
    }
    return new Scenario(seed, List.copyOf(clients), end(random), 1 + random.nextInt(STEPS_MAX));
  }

  private static End end(Random random) {
    return switch (random.nextInt(40)) {
      case 0, 1 -> End.KILL;
      case 2 -> End.KILL_AND_LOSE_DATABASE;
      case 3 -> End.SHUTDOWN;
      default -> End.NONE;
    };
  }

  private static String prompt(Random random) {
    StagedBackend.Kind[] kinds = StagedBackend.Kind.values();
    // Those that cost waiting time are rarer.
    StagedBackend.Kind kind = kinds[random.nextInt(kinds.length)];
    boolean slow = kind == StagedBackend.Kind.DEAF || kind == StagedBackend.Kind.LEAKY;
    if (slow && random.nextInt(3) > 0) {
      kind = StagedBackend.Kind.BLOCK;
    }
    return kind + " " + random.nextInt(1000);
  }

  private static Action submit(Random random, List<String> prompts, boolean generated) {
    int number = random.nextInt(prompts.size());
    String prompt =
        random.nextInt(8) == 0
            ? prompt(random)
            : generated ? prompts.getFirst() : prompts.get(number);
    boolean nameless = generated && random.nextInt(8) > 0;
    return new Action.Submit(
        nameless ? "" : "t" + number, prompt, !nameless && random.nextInt(3) > 0);
  }

  private static Action action(Random random, List<String> prompts, boolean generated) {
    String id = "t" + random.nextInt(prompts.size());
    return switch (random.nextInt(40)) {
      case 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 -> submit(random, prompts, generated);
      case 13, 14, 15, 16 -> new Action.Poll(id);
      case 17, 18, 19, 20, 21, 22, 23 -> new Action.Cancel(id);
      case 24, 25 -> new Action.Abort();
      case 26, 27 -> new Action.Pause(random.nextInt(5) == 0, random.nextInt(5) == 0);
      case 28, 29 -> new Action.Resume(random.nextInt(5) == 0);
      case 30, 31 -> new Action.Command();
      case 32, 33 -> new Action.Register(0, random.nextInt(5) == 0);
      case 34 -> new Action.Register(1 + random.nextInt(3), false);
      case 35, 36 -> new Action.AgentDies();
      case 37 -> new Action.LedgerDown(1 + random.nextInt(3));
      default -> new Action.Status();
    };
  }

  /** Whether threads have ranks, see {@link SeededStage}. */
  boolean ranked() {
    return seed % 2 == 0;
  }

  /** The same with one thing less, in every way. */
  List<Scenario> shorter() {
    List<Scenario> shorter = new ArrayList<>();
    if (end != End.NONE) {
      shorter.add(new Scenario(seed, clients, End.NONE, endAtStep));
    }
    for (int client = 0; client < clients.size(); client++) {
      for (int action = 0; action < clients.get(client).size(); action++) {
        List<Action> fewer = new ArrayList<>(clients.get(client));
        fewer.remove(action);
        List<List<Action>> others = new ArrayList<>(clients);
        others.set(client, List.copyOf(fewer));
        shorter.add(new Scenario(seed, List.copyOf(others), end, endAtStep));
      }
    }
    return shorter;
  }

  /** For people who look for a mistake. */
  String describe() {
    StringBuilder text = new StringBuilder("seed " + seed);
    for (int i = 0; i < clients.size(); i++) {
      text.append("\n  client ").append(i).append(": ").append(clients.get(i));
    }
    if (end != End.NONE) {
      text.append("\n  after ").append(endAtStep).append(" steps: ").append(end);
    }
    return text.toString();
  }
}
