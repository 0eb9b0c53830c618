package dev.blackbox.app;

import dev.blackbox.config.Defaults;
import dev.blackbox.config.Setting;
import java.util.EnumMap;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** The settings as options of a command. */
final class SettingOptions {

  private SettingOptions() {}

  /** A command line for this command, with an option for every setting that may be one. */
  static CommandLine on(Object command) {
    CommandLine line = new CommandLine(command);
    CommandSpec spec = line.getCommandSpec();
    Map<Setting, String> defaults = Defaults.shipped();
    for (Setting setting : Setting.values()) {
      if (!setting.isOption()) {
        continue;
      }
      spec.addOption(
          OptionSpec.builder(setting.option())
              .type(String.class)
              .arity("1")
              .paramLabel(setting.kind().label())
              .description(
                  setting.meaning() + ".",
                  setting.variable() + ", default: " + shown(defaults.getOrDefault(setting, "")))
              .build());
    }
    spec.usageMessage().sortOptions(false);
    return line;
  }

  /** The settings that the command line has. */
  static Map<Setting, String> given(CommandSpec spec) {
    Map<Setting, String> options = new EnumMap<>(Setting.class);
    for (Setting setting : Setting.values()) {
      OptionSpec option = spec.findOption(setting.option());
      if (option != null && option.getValue() != null) {
        options.put(setting, option.getValue());
      }
    }
    return options;
  }

  private static String shown(String value) {
    return value.isEmpty() ? "empty" : value;
  }
}
