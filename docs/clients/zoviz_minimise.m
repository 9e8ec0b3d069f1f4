% Ask and tell with a server of zoviz's, `zoviz serve --api`, from Octave or MATLAB; by the program curl.
%
%   settings = struct("bounds", [-2 2; -2 2], "m", 1, "calls", 100);
%   result = zoviz_minimise(@(x) deal(sum(x.^2), 1 - x(1)), "http://127.0.0.1:5006", token, settings);
%
% fun returns f and h; an error in it is a failed call. Where settings is an id, that session goes on.
function [result, id] = zoviz_minimise(fun, server, token, settings)
  id = settings;
  if isstruct(settings)
    id = request(server, token, "POST", "/sessions", settings).id;
  end
  path = ["/sessions/" id];
  while true
    [asked, text] = request(server, token, "GET", [path "/ask"]);
    if asked.done
      break
    end
    exact = regexp(text, '"x": \[([^\]]*)\]', "tokens");  % jsondecode and jsonencode are off by the last digit
    for k = 1:numel(asked.points)
      try
        [f, h] = fun(sscanf(exact{k}{1}, "%f,")');
      catch
        f = NaN; h = [];
      end
      told = sprintf('{"points": [{"id": %d, "f": %s, "h": [%s]}]}', asked.points(k).id, digits(f), digits(h));
      request(server, token, "POST", [path "/tell"], told);
    end
  end
  result = request(server, token, "GET", [path "/result"]);
end

function text = digits(numbers)
  text = strrep(strjoin(arrayfun(@(x) sprintf("%.17g", x), numbers(:)', "UniformOutput", false), ","), "NaN", "null");
end

function [content, text] = request(server, token, method, path, body)
  command = sprintf("curl -sS -X %s -H 'Authorization: Bearer %s' '%s/api%s'", method, token, server, path);
  if nargin > 4
    file = [tempname() ".json"];
    if ~ischar(body)
      body = jsonencode(body);
    end
    stream = fopen(file, "w"); fprintf(stream, "%s", body); fclose(stream);
    command = [command " -H 'Content-Type: application/json' --data-binary @" file];
  end
  [status, text] = system(command);
  if nargin > 4
    delete(file);
  end
  content = jsondecode(text);
  if status ~= 0 || isfield(content, "error")
    error("zoviz: %s", text);
  end
end
