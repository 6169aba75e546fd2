// Loaded before Plotly: lets it draw under a policy that refuses inline styles, without loosening the policy.

// Plotly sets styles as attributes, which the policy refuses in silence: heat map cells would be smeared into each
// other. The same declarations are allowed when they are set as properties.
const setAttribute = Element.prototype.setAttribute;
Element.prototype.setAttribute = function (name, value) {
  if (name === "style") this.style.cssText = value;
  else setAttribute.call(this, name, value);
};

// Plotly adds a style element for street maps, which no page here has, unless an element with this id is there.
const present = document.createElement("meta");
present.id = "9f215cf04c5486422605d13261cb87401f4e7763b6296af81e98efbc0130da53";
document.head.append(present);
