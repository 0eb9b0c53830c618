package dev.blackbox.house;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/** Holds the arrows between the rooms: the table of {@code docs/ARCHITECTURE.md}, as code. */
@AnalyzeClasses(packages = "dev.blackbox", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

  private static final String ROOT = "dev.blackbox.";

  private static final Map<String, Set<String>> MAY_USE =
      Map.ofEntries(
          entry("kernel", Set.of()),
          entry("turn", Set.of("kernel")),
          entry("wire", Set.of("kernel")),
          entry("translate", Set.of("wire", "kernel")),
          entry("upstream", Set.of("wire", "kernel")),
          entry("ledger", Set.of("turn", "wire", "kernel")),
          entry("process", Set.of("kernel")),
          entry("agent", Set.of("process", "turn", "wire", "kernel")),
          entry("proxy", Set.of("upstream", "translate", "turn", "wire", "kernel")),
          entry("control", Set.of("ledger", "agent", "proxy", "process", "turn", "wire", "kernel")),
          entry("http", Set.of("control", "turn", "wire", "kernel")),
          entry("bridge", Set.of("upstream", "translate", "wire", "kernel")),
          entry(
              "config",
              Set.of("http", "control", "proxy", "agent", "process", "ledger", "kernel")));

  @ArchTest
  static void roomsUseOnlyTheirNeighbours(JavaClasses ours) {
    MAY_USE.forEach(
        (room, uses) ->
            classes()
                .that()
                .resideInAPackage(ROOT + room + "..")
                .should()
                .onlyDependOnClassesThat(
                    resideInAnyPackage(packages(room, uses))
                        .or(resideOutsideOfPackage("dev.blackbox..")))
                .allowEmptyShould(true)
                .check(ours));
  }

  @ArchTest
  static void everyPackageIsARoom(JavaClasses ours) {
    Set<String> rooms = new TreeSet<>();
    for (JavaClass type : ours) {
      rooms.add(type.getPackageName().substring(ROOT.length()).split("\\.")[0]);
    }
    rooms.remove("app");
    assertThat(MAY_USE.keySet()).containsAll(rooms);
  }

  @ArchTest
  static void everyPackageSaysWhatItIs(JavaClasses ours) {
    Set<String> described = new TreeSet<>();
    Set<String> all = new TreeSet<>();
    for (JavaClass type : ours) {
      all.add(type.getPackageName());
      if (type.getSimpleName().equals("package-info")) {
        described.add(type.getPackageName());
      }
    }
    assertThat(described).isEqualTo(all);
  }

  @ArchTest
  static void roomsHaveNoCycles(JavaClasses ours) {
    slices().matching(ROOT + "(*)..").should().beFreeOfCycles().check(ours);
  }

  @ArchTest
  static void backendsDoNotSeeEachOther(JavaClasses ours) {
    slices()
        .matching(ROOT + "agent.(*)..")
        .should()
        .notDependOnEachOther()
        .allowEmptyShould(true)
        .check(ours);
  }

  @ArchTest
  static void librariesStayInTheirRooms(JavaClasses ours) {
    onlyIn(
        ours,
        Set.of("ledger"),
        "java.sql..",
        "javax.sql..",
        "org.jdbi..",
        "org.h2..",
        "org.flywaydb..");
    onlyIn(ours, Set.of("wire", "translate"), "com.fasterxml..");
    onlyIn(ours, Set.of("app", "http", "proxy", "agent", "config"), "io.helidon..");
    onlyIn(ours, Set.of("app", "config"), "picocli..");
    onlyIn(ours, Set.of("process"), "java.lang.foreign..");
  }

  @ArchTest
  static void onlyTheProcessRoomStartsProcesses(JavaClasses ours) {
    noClasses()
        .that()
        .resideOutsideOfPackages(ROOT + "process..", ROOT + "app..")
        .should()
        .dependOnClassesThat()
        .areAssignableTo(ProcessBuilder.class)
        .check(ours);
  }

  @ArchTest
  static void pureRoomsTouchNothing(JavaClasses ours) {
    noClasses()
        .that()
        .resideInAnyPackage(ROOT + "turn..", ROOT + "translate..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("java.io..", "java.nio.file..", "java.net..", "java.util.concurrent..")
        .orShould()
        .dependOnClassesThat()
        .areAssignableTo(Thread.class)
        .allowEmptyShould(true)
        .check(ours);
  }

  @ArchTest
  static void nobodyReadsTheClockByTheBackDoor(JavaClasses ours) {
    noClasses()
        .that()
        .resideOutsideOfPackage(ROOT + "app..")
        .should()
        .callMethod(System.class, "currentTimeMillis")
        .orShould()
        .callMethod(java.time.Instant.class, "now")
        .check(ours);
  }

  @ArchTest
  static void nobodyPrints(JavaClasses ours) {
    noClasses()
        .that()
        .resideOutsideOfPackage(ROOT + "app..")
        .should()
        .accessField(System.class, "out")
        .orShould()
        .accessField(System.class, "err")
        .check(ours);
  }

  private static void onlyIn(JavaClasses ours, Set<String> rooms, String... libraries) {
    String[] homes = rooms.stream().map(room -> ROOT + room + "..").toArray(String[]::new);
    noClasses()
        .that()
        .resideOutsideOfPackages(homes)
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(libraries)
        .allowEmptyShould(true)
        .check(ours);
  }

  private static String[] packages(String room, Set<String> uses) {
    return Stream.concat(Stream.of(room), uses.stream())
        .map(name -> ROOT + name + "..")
        .toArray(String[]::new);
  }
}
