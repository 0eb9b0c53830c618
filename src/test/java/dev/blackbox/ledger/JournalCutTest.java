package dev.blackbox.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.ledger.CutDisk.Operation;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** The journal alone on a disk that loses its power, and planted faults that this must find. */
@CrashRig
class JournalCutTest {

  private static final int SEEDS = 150 * CrashTable.SCALE;
  private static final int SEEDS_FOR_A_PLANTED_FAULT = 60;

  @Test
  void p1NothingThatWasForcedIsLostAndNothingDeniedIsThere() throws IOException {
    CrashTable table =
        run(
            "journal, power cuts",
            SEEDS,
            UnaryOperator.identity(),
            UnaryOperator.identity(),
            _ -> {});
    table.print();
    assertThat(table.violations()).isEmpty();
    assertThat(table.points()).isGreaterThan(SEEDS);
  }

  @Test
  void plantedAnAnswerBeforeTheForceIsFound() throws IOException {
    found(UnaryOperator.identity(), disk -> disk.lie(Operation.FORCE));
  }

  @Test
  void plantedADirectoryThatIsNotForcedIsFound() throws IOException {
    found(UnaryOperator.identity(), disk -> disk.lie(Operation.FORCE_DIRECTORY));
  }

  @Test
  void plantedARenameBeforeTheForceIsFound() throws IOException {
    found(RenamesFirst::new, _ -> {});
  }

  @Test
  void plantedAForceThatIsTriedAgainAfterItFailedIsFound() throws IOException {
    found(ForcesAgain::new, _ -> {});
  }

  @Test
  void plantedATornRecordThatIsTakenForAWholeOneIsFound() throws IOException {
    CrashTable table =
        run(
            "planted",
            SEEDS_FOR_A_PLANTED_FAULT,
            UnaryOperator.identity(),
            TornReading::believing,
            _ -> {});
    assertThat(table.violations()).anyMatch(what -> what.contains("nobody wrote"));
  }

  @Test
  void plantedAWholeRecordThatIsTakenForATornOneIsFound() throws IOException {
    CrashTable table =
        run(
            "planted",
            SEEDS_FOR_A_PLANTED_FAULT,
            UnaryOperator.identity(),
            TornReading::doubting,
            _ -> {});
    assertThat(table.violations()).anyMatch(what -> what.contains("acknowledged"));
  }

  private static void found(UnaryOperator<JournalFiles> between, Consumer<CutDisk> plant)
      throws IOException {
    CrashTable table =
        run("planted", SEEDS_FOR_A_PLANTED_FAULT, between, UnaryOperator.identity(), plant);
    assertThat(table.violations()).isNotEmpty();
  }

  private static CrashTable run(
      String part,
      int seeds,
      UnaryOperator<JournalFiles> between,
      UnaryOperator<JournalFiles> betweenReading,
      Consumer<CutDisk> plant)
      throws IOException {
    CrashTable table = new CrashTable(part);
    for (int seed = 1; seed <= seeds; seed++) {
      Path root = CrashDirectory.make();
      JournalSeed one = new JournalSeed(seed, root, table, between, betweenReading);
      plant.accept(one.disk());
      one.run();
      CrashDirectory.delete(root);
    }
    return table;
  }

  /** A file whose force is not what it should be. */
  private record OddForce(JournalFiles.Output real, Force odd) implements JournalFiles.Output {

    interface Force {
      void run(JournalFiles.Output output) throws IOException;
    }

    @Override
    public void append(ByteBuffer bytes) throws IOException {
      real.append(bytes);
    }

    @Override
    public void force() throws IOException {
      odd.run(real);
    }

    @Override
    public void truncate(long size) throws IOException {
      real.truncate(size);
    }

    @Override
    public void close() throws IOException {
      real.close();
    }
  }

  /** The header of a new segment is not forced before the segment gets its name. */
  private static final class RenamesFirst extends PlantedFiles {
    RenamesFirst(JournalFiles real) {
      super(real);
    }

    @Override
    Output planted(Output output) {
      boolean[] first = {true};
      return new OddForce(
          output,
          real -> {
            if (!first[0]) {
              real.force();
            }
            first[0] = false;
          });
    }
  }

  /** What failed once is asked for again, and its success is believed. */
  private static final class ForcesAgain extends PlantedFiles {
    ForcesAgain(JournalFiles real) {
      super(real);
    }

    @Override
    Output planted(Output output) {
      return new OddForce(
          output,
          real -> {
            try {
              real.force();
            } catch (IOException failed) {
              real.force();
            }
          });
    }
  }
}
