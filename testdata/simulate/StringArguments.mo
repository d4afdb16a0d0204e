// Arrays of Strings, and Strings in records, reach calls that are made while the simulation runs: a function whose loop depends
// on the time is not written out (specification 12.4).
package StringArguments
  record Item
    String name;
    Real weight;
  end Item;
  function count "How many names come before the stop, at most as many as the limit says"
    input String names[:];
    input String stop;
    input Real limit;
    output Real n;
  protected
    Integer i;
  algorithm
    n := 0;
    i := 1;
    while i <= size(names, 1) and n < limit loop
      if names[i] == stop then
        return;
      end if;
      n := n + 1;
      i := i + 1;
    end while;
  end count;
  function weigh
    input Item item;
    input Real limit;
    output Real w;
  algorithm
    w := 0;
    while w < limit loop
      w := w + (if item.name == "lead" then item.weight else 1000);
    end while;
  end weigh;
  model M
    Real n = count({"a", "b", "c", "d"}, "d", 10*time);
    Real w = weigh(Item("lead", 0.5), 2*time);
  end M;
end StringArguments;
// class: StringArguments.M
// at t=0.15: n = 2 ± 0 (the limit 1.5 is passed after two names)
// at t=1: n = 3 ± 0 (three names before the stop)
// at t=0.6: w = 1.5 ± 0 (three times 0.5 is not less than 1.2)
