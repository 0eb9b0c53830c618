package dev.blackbox.ledger;

import java.io.IOException;
import java.util.List;

/** Files as they are, but for what a subclass plants. */
abstract class PlantedFiles implements JournalFiles {

  private final JournalFiles real;

  PlantedFiles(JournalFiles real) {
    this.real = real;
  }

  @Override
  public List<String> list() throws IOException {
    return real.list();
  }

  @Override
  public Output create(String name) throws IOException {
    return planted(real.create(name));
  }

  Output planted(Output output) {
    return output;
  }

  @Override
  public Input open(String name) throws IOException {
    return planted(real.open(name));
  }

  Input planted(Input input) throws IOException {
    return input;
  }

  @Override
  public void rename(String from, String to) throws IOException {
    real.rename(from, to);
  }

  @Override
  public void delete(String name) throws IOException {
    real.delete(name);
  }

  @Override
  public void forceDirectory() throws IOException {
    real.forceDirectory();
  }
}
