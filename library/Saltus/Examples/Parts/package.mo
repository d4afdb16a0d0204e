within Saltus.Examples;
package Parts "Components that no document uses"
  extends Icons.Package;
end Parts;
