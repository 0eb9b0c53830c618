package dev.blackbox.process;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * The few system calls that Java has no word for. Needs {@code --enable-native-access=ALL-UNNAMED}.
 * Numbers are those of Linux, the same on every processor that JDK 25 supports.
 */
@SuppressWarnings("restricted")
final class Native {

  static final int SIGINT = 2;
  static final int SIGKILL = 9;
  static final int SIGTERM = 15;
  static final short POLLIN = 1;

  /** Size of {@code struct pollfd}: int descriptor, short wanted, short seen. */
  static final int POLLFD_BYTES = 8;

  private static final int O_CLOEXEC = 0x80000;
  private static final int WNOHANG = 1;

  private static final MethodHandle KILL = call("kill", JAVA_INT, JAVA_INT);
  private static final MethodHandle WAITPID = call("waitpid", JAVA_INT, ADDRESS, JAVA_INT);
  private static final MethodHandle PIPE2 =
      handle("pipe2", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));
  private static final MethodHandle POLL =
      handle("poll", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT));
  private static final MethodHandle READ =
      handle("read", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG));
  private static final MethodHandle WRITE =
      handle("write", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG));
  private static final MethodHandle CLOSE = call("close", JAVA_INT);

  private Native() {}

  /** A pipe that no child inherits by itself. */
  record Pipe(int readEnd, int writeEnd) {}

  /**
   * Sends a signal.
   *
   * @param pid a process, or the negative number of a process group
   * @return false if there is no such process, or it is another user's
   */
  static boolean kill(long pid, int signal) {
    try {
      return (int) KILL.invokeExact((int) pid, signal) == 0;
    } catch (Throwable impossible) {
      throw unexpected(impossible);
    }
  }

  /**
   * Takes the exit status of a child that has ended, so that its entry goes away. Never waits.
   *
   * @return false if it is no child, or has not ended
   */
  static boolean collect(long pid) {
    try {
      return (int) WAITPID.invokeExact((int) pid, MemorySegment.NULL, WNOHANG) == (int) pid;
    } catch (Throwable impossible) {
      throw unexpected(impossible);
    }
  }

  static Pipe pipe() throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment ends = arena.allocate(JAVA_INT, 2);
      if ((int) PIPE2.invokeExact(ends, O_CLOEXEC) != 0) {
        throw new IOException("no pipe could be made: out of file descriptors?");
      }
      return new Pipe(ends.getAtIndex(JAVA_INT, 0), ends.getAtIndex(JAVA_INT, 1));
    } catch (IOException failed) {
      throw failed;
    } catch (Throwable impossible) {
      throw unexpected(impossible);
    }
  }

  /** Waits until one of the descriptors is readable or closed, or the time is over. */
  static int poll(MemorySegment descriptors, int count, int timeoutMillis) {
    try {
      return (int) POLL.invokeExact(descriptors, (long) count, timeoutMillis);
    } catch (Throwable impossible) {
      throw unexpected(impossible);
    }
  }

  static void setPollDescriptor(MemorySegment descriptors, int index, int descriptor) {
    descriptors.set(JAVA_INT, (long) index * POLLFD_BYTES, descriptor);
    descriptors.set(JAVA_SHORT, (long) index * POLLFD_BYTES + 4, POLLIN);
    descriptors.set(JAVA_SHORT, (long) index * POLLFD_BYTES + 6, (short) 0);
  }

  /** What the last {@link #poll} saw there; 0: nothing. */
  static short seen(MemorySegment descriptors, int index) {
    return descriptors.get(JAVA_SHORT, (long) index * POLLFD_BYTES + 6);
  }

  /** Bytes read; 0 at the end, negative on failure. */
  static int read(int descriptor, MemorySegment buffer) {
    try {
      return (int) (long) READ.invokeExact(descriptor, buffer, buffer.byteSize());
    } catch (Throwable impossible) {
      throw unexpected(impossible);
    }
  }

  /** Writes one byte to a pipe that is known to be empty. */
  static void writeByte(int descriptor) {
    try (Arena arena = Arena.ofConfined()) {
      long written =
          (long) WRITE.invokeExact(descriptor, arena.allocateFrom(JAVA_BYTE, (byte) 1), 1L);
      if (written != 1) {
        throw new IllegalStateException("descriptor " + descriptor + " takes no byte");
      }
    } catch (IllegalStateException failed) {
      throw failed;
    } catch (Throwable impossible) {
      throw unexpected(impossible);
    }
  }

  static void close(int descriptor) {
    try {
      int ignored = (int) CLOSE.invokeExact(descriptor);
    } catch (Throwable impossible) {
      throw unexpected(impossible);
    }
  }

  private static MethodHandle call(String name, java.lang.foreign.MemoryLayout... argumentLayouts) {
    return handle(name, FunctionDescriptor.of(JAVA_INT, argumentLayouts));
  }

  private static MethodHandle handle(String name, FunctionDescriptor descriptor) {
    Linker linker = Linker.nativeLinker();
    return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), descriptor);
  }

  private static IllegalStateException unexpected(Throwable impossible) {
    return new IllegalStateException("a system call could not be made", impossible);
  }
}
