// n8n loads the files that package.json lists under "n8n"; npm wants a main file.
module.exports = {};
