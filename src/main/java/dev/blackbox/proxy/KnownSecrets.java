package dev.blackbox.proxy;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.blackbox.kernel.Secret;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What must not be in kept bodies. */
final class KnownSecrets {

  private static final System.Logger LOG = System.getLogger(KnownSecrets.class.getName());

  /** What is shorter is a word such as "none", and would be taken out of every text. */
  static final int BYTES_MIN = 8;

  /** Of a longer one its first bytes are looked for; a private key has some 3,000. */
  static final int BYTES_MAX = 16 << 10;

  /** Of all together. */
  private static final int ALL_BYTES_MAX = 1 << 20;

  /** Their calls may still wait to be written. */
  private static final int BINDINGS_MAX = 4;

  /** Older ones are known by their form, and are of no use any more. */
  private static final int TURNS_MAX = 16;

  private final ReentrantLock lock = new ReentrantLock();

  @GuardedBy("lock")
  private final Set<String> lasting = new LinkedHashSet<>();

  @GuardedBy("lock")
  private final Deque<List<String>> bindings = new ArrayDeque<>();

  @GuardedBy("lock")
  private final Deque<String> turns = new ArrayDeque<>();

  /** Null after a change. */
  @GuardedBy("lock")
  private @Nullable SecretTrie trie;

  /** Known as long as this process lives. */
  void add(Collection<Secret> secrets) {
    lock.lock();
    try {
      for (Secret secret : secrets) {
        lasting.add(secret.reveal());
      }
      trie = null;
    } finally {
      lock.unlock();
    }
  }

  /** Its key, what is secret in its options, and a password in the address of its engine. */
  void bound(ProxyBinding binding) {
    Stream<String> password =
        Optional.ofNullable(binding.upstreamOrigin().getUserInfo()).stream()
            .map(user -> user.substring(user.indexOf(':') + 1));
    List<String> all =
        Stream.concat(
                Stream.concat(Stream.of(binding.agentKey()), binding.secrets().stream())
                    .map(Secret::reveal),
                password)
            .toList();
    lock.lock();
    try {
      bindings.addLast(all);
      if (bindings.size() > BINDINGS_MAX) {
        bindings.removeFirst();
      }
      trie = null;
    } finally {
      lock.unlock();
    }
  }

  /** The key of a turn. */
  void opened(Secret turnKey) {
    lock.lock();
    try {
      turns.addLast(turnKey.reveal());
      if (turns.size() > TURNS_MAX) {
        turns.removeFirst();
      }
      trie = null;
    } finally {
      lock.unlock();
    }
  }

  SecretTrie trie() {
    lock.lock();
    try {
      SecretTrie known = trie;
      if (known == null) {
        known = new SecretTrie(allLocked());
        trie = known;
      }
      return known;
    } finally {
      lock.unlock();
    }
  }

  @GuardedBy("lock")
  private List<byte[]> allLocked() {
    Set<String> all = new LinkedHashSet<>(turns);
    bindings.forEach(all::addAll);
    all.addAll(lasting);
    List<byte[]> bytes = new ArrayList<>();
    long length = 0;
    for (String secret : all) {
      byte[] utf8 = secret.getBytes(StandardCharsets.UTF_8);
      if (utf8.length < BYTES_MIN) {
        continue;
      }
      length += Math.min(utf8.length, BYTES_MAX);
      if (length > ALL_BYTES_MAX) {
        LOG.log(
            System.Logger.Level.WARNING,
            "more than {0} bytes of secrets are known; some are not taken out of kept bodies",
            ALL_BYTES_MAX);
        break;
      }
      bytes.add(utf8.length <= BYTES_MAX ? utf8 : Arrays.copyOf(utf8, BYTES_MAX));
    }
    return bytes;
  }
}
