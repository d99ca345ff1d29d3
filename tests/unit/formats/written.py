"""Small networks, and one as people write it in three formats."""

from pathlib import Path

from kes.network import BayesianNetwork, read_network

ASIA_LIKE = """\
network unknown {
}
variable smoke {
  type discrete [ 2 ] { yes, no };
}
variable lung {
  type discrete [ 3 ] { none, some, much };
}
probability ( smoke ) {
  table 0.25, 0.75;
}
probability ( lung | smoke ) {
  (yes) 0.5, 0.25, 0.25;
  (no) 0.125, 0.125, 0.75;
}
"""
LUNG = [[0.5, 0.25, 0.25], [0.125, 0.125, 0.75]]

XMLBIF = """\
<?xml version="1.0" encoding="US-ASCII"?>
<!-- as in the definition of version 0.3 -->
<!DOCTYPE BIF [
	<!ELEMENT BIF ( NETWORK )*>
		<!ATTLIST BIF VERSION CDATA #REQUIRED>
	<!ELEMENT PROPERTY (#PCDATA)>
]>
<BIF VERSION="0.3">
<NETWORK>
<NAME>Dog-Problem</NAME>
<VARIABLE TYPE="nature">
	<NAME> smoke </NAME>
	<OUTCOME>yes</OUTCOME>
	<OUTCOME>no</OUTCOME>
	<PROPERTY>position = (73, 165)</PROPERTY>
</VARIABLE>
<VARIABLE TYPE="nature"><NAME>lung</NAME>
	<OUTCOME>none</OUTCOME><OUTCOME>some</OUTCOME><OUTCOME>much</OUTCOME>
</VARIABLE>
<DEFINITION>
	<FOR>lung</FOR>
	<GIVEN>smoke</GIVEN>
	<TABLE>0.5 0.25 0.25 <!-- smokers first --> 0.125 0.125 0.75</TABLE>
</DEFINITION>
<DEFINITION><FOR>smoke</FOR><TABLE>0.25 0.75</TABLE></DEFINITION>
</NETWORK>
</BIF>
"""
NET = """\
% HUGIN writes comments like this
net
{
  node_size = (80 40);
  HR_Desc = "semi;colon % and } brace";
}
node smoke
{
  label = "Smoker?";
  position = (10 20);
  states = ("yes" "no");
}
discrete node lung
{
  states = ("none"
            "some" "much");
}
potential (smoke)
{
  data = (0.25 0.75);
}
potential (lung | smoke)
{
  data = ((0.5 0.25 0.25)      % yes
          (0.125 0.125 0.75)); % no
}
"""


def small() -> BayesianNetwork:
    return BayesianNetwork(
        ["smoke", "lung"],
        {"smoke": ["yes", "no"], "lung": [True, False]},
        {"lung": ["smoke"]},
        {"smoke": [0.25, 0.75], "lung": [[0.5, 0.5], [0.125, 0.875]]},
    )


def read_network_from(folder: Path, suffix: str, content: str) -> BayesianNetwork:
    path = folder / f"file{suffix}"
    path.write_text(content, encoding="utf-8")
    return read_network(path)
