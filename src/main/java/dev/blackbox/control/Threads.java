package dev.blackbox.control;

/** Where the threads of this room come from, so that a test can decide who goes next. */
@FunctionalInterface
interface Threads {

  /** What a server runs on. */
  Threads VIRTUAL = (name, task) -> Thread.ofVirtual().name(name).start(task);

  /** Starts a thread that ends by itself; whoever calls this sees to it that it does. */
  Thread start(String name, Runnable task);
}
