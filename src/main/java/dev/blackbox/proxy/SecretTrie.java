package dev.blackbox.proxy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Finds any of many secrets in one pass. Source: Aho and Corasick, "Efficient string matching",
 * 1975. Not changed once it is made.
 */
final class SecretTrie {

  /** No secret has begun. */
  static final int START = 0;

  /** By node and byte. */
  private final Map<Integer, Integer> next = new HashMap<>();

  /** Next nodes of the first one, where text without secrets stays. */
  private final int[] first = new int[256];

  /** By node: the node of the longest end of what leads there that begins a secret, too. */
  private int[] fallback = new int[1];

  /** By node: bytes that lead there. */
  private int[] depth = new int[1];

  /** By node: length of the longest secret that ends there; 0: none does. */
  private int[] ending = new int[1];

  private int nodes = 1;

  SecretTrie(Collection<byte[]> secrets) {
    List<Integer> byDepth = new ArrayList<>();
    for (byte[] secret : secrets) {
      add(secret, byDepth);
    }
    byDepth.sort((one, another) -> Integer.compare(depth[one], depth[another]));
    Map<Integer, Integer> edges = new HashMap<>();
    next.forEach((edge, node) -> edges.put(node, edge));
    for (int node : byDepth) {
      int edge = edges.getOrDefault(node, 0);
      int parent = edge >>> 8;
      fallback[node] = parent == START ? START : step(fallback[parent], edge & 0xFF);
      ending[node] = Math.max(ending[node], ending[fallback[node]]);
    }
  }

  private void add(byte[] secret, List<Integer> made) {
    int node = START;
    for (byte each : secret) {
      int edge = node << 8 | (each & 0xFF);
      Integer known = next.get(edge);
      if (known == null) {
        known = newNode(depth[node] + 1);
        made.add(known);
        next.put(edge, known);
        if (node == START) {
          first[each & 0xFF] = known;
        }
      }
      node = known;
    }
    ending[node] = secret.length;
  }

  private int newNode(int itsDepth) {
    if (nodes == depth.length) {
      int more = 2 * nodes;
      fallback = Arrays.copyOf(fallback, more);
      depth = Arrays.copyOf(depth, more);
      ending = Arrays.copyOf(ending, more);
    }
    depth[nodes] = itsDepth;
    return nodes++;
  }

  /** The node after one more byte, 0 to 255. */
  int step(int from, int with) {
    int node = from;
    while (node != START) {
      Integer to = next.get(node << 8 | with);
      if (to != null) {
        return to;
      }
      node = fallback[node];
    }
    return first[with];
  }

  /** How many of the last bytes begin a secret. */
  int depth(int node) {
    return depth[node];
  }

  /** How many of the last bytes are a secret; 0 if none ends here. */
  int ending(int node) {
    return ending[node];
  }
}
