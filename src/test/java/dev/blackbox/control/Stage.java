package dev.blackbox.control;

import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * Where all threads of one boot of the control room run, and the place at which they stop to let
 * others go first.
 */
interface Stage extends Threads {

  /** Thrown out of every step of a boot that was killed; no code of ours catches errors. */
  final class KilledException extends Error {
    KilledException() {
      super("this boot was killed", null, false, false);
    }
  }

  /** Somebody else may go first here. Throws once the stage is killed. */
  void step();

  /** Runs what waits for other threads, as one step. */
  <T> T outside(Supplier<T> body);

  /** Some waits of this length are under way, so that a quiet stage is not yet an idle one. */
  void expectTimers();

  /** Lets threads go on until a condition holds. False if nothing moves any more before that. */
  boolean runUntil(BooleanSupplier done);

  /** Lets threads make a number of steps, or as many as there are. */
  void run(int steps);

  /** Lets threads go on until nobody moves, or for a short while if that cannot be known. */
  void runUntilIdle();

  /** Whether {@link #runUntilIdle} is what its name says. */
  boolean knowsWhenIdle();

  /** How many times longer than on a stage of one thread things may take. */
  int patience();

  /** What follows is decided by this seed. */
  void reseed(long seed, boolean ranked);

  /** As a kill -9: nobody makes another step that anybody could see. */
  void kill();

  /** What threads died of, other than being killed. */
  List<Throwable> failures();
}
